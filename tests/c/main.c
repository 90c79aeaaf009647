/* main.c - runs all tests, or those whose names hold the first argument. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "fixtures.h"
#include "tests.h"

static int n_failed_checks; /* of the test that runs */

static void tell(const char *file, int line)
{
    n_failed_checks++;
    printf("%s:%d: ", file, line);
}

bool check_true(bool held, const char *what, const char *file, int line)
{
    if (!held) {
        tell(file, line);
        printf("not so: %s\n", what);
    }
    return held;
}

bool check_equal(int64_t got, int64_t wanted, const char *what, const char *file, int line)
{
    if (got != wanted) {
        tell(file, line);
        printf("%s is %" PRId64 ", not %" PRId64 "\n", what, got, wanted);
    }
    return got == wanted;
}

typedef struct test {
    const char *name;
    void (*run)(void);
    bool with_each;
} test;

#define ONCE(name) {#name, test_##name, false},
#define WITH_EACH(name) {#name, test_##name, true},

static void run(const test *test)
{
    size_t i = 0;
    do {
        int n_before = n_failed_checks;
        with_toggles = toggles_at(i++);
        test->run();
        if (test->with_each && n_failed_checks > n_before) {
            printf("with toggles_at(%zu)\n", i - 1);
        }
    } while (test->with_each && toggles_at(i) != NULL);
}

int main(int argc, char **argv)
{
    static const test tests[] = {ALL_TESTS(ONCE, WITH_EACH)};
    int n_passed = 0, n_failed = 0;
    for (size_t i = 0; i < LENGTH(tests); i++) {
        if (argc > 1 && strstr(tests[i].name, argv[1]) == NULL) {
            continue;
        }
        n_failed_checks = 0;
        run(&tests[i]);
        if (n_failed_checks > 0) {
            printf("FAILED %s\n", tests[i].name);
        }
        n_passed += n_failed_checks == 0;
        n_failed += n_failed_checks > 0;
    }
    printf("%d passed, %d failed\n", n_passed, n_failed);
    return n_failed == 0 ? 0 : 1;
}
