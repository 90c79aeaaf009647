/* check.h - all that a C test needs: checks that say where they failed, and go on.
 *
 * Each gives whether it held, so that a test can stop where going on makes no sense.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stdint.h>

#define CHECK(condition) check_true((condition), #condition, __FILE__, __LINE__)
#define CHECK_EQUAL(got, wanted) \
    check_equal((int64_t)(got), (int64_t)(wanted), #got, __FILE__, __LINE__)
#define CHECK_OK(call) check_equal((call), 0, #call, __FILE__, __LINE__)

bool check_true(bool held, const char *what, const char *file, int line);
bool check_equal(int64_t got, int64_t wanted, const char *what, const char *file, int line);

#endif
