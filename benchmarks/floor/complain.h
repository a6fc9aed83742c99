/* Words for people go to standard error, one line each. */
#ifndef COMPLAIN_H
#define COMPLAIN_H

void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
