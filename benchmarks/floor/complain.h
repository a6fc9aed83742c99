/* Words for people go to standard error, one line each. */
#ifndef COMPLAIN_H
#define COMPLAIN_H

void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Complains and ends the process with exit status 1, from any thread. Nothing
 * can be said of a run that has failed, so nothing is left to tidy up. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
