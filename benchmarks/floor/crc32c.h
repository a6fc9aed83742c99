/* CRC-32C (Castagnoli, RFC 3720). */
#ifndef CRC32C_H
#define CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Continues crc, 0 at first, over n bytes. */
typedef uint32_t crc_function(uint32_t crc, const unsigned char *p, size_t n);

/* The fastest implementation of this machine, or NULL if it does not give the
 * catalogue's check value ("123456789" gives e3069283). Not for two threads at
 * once; the function returned is. */
crc_function *crc_choose(const char **name);

#endif
