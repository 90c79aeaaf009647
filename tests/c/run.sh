# Runs suites one after another; the last line sums them up.
# Usage: run.sh WORD SUITE...  (WORD: part of the names of the tests to run, or empty)
word=$1
shift
passed=0
failed=0
for suite in "$@"; do
    name=$(basename "$(dirname "$suite")")
    output=$("$suite" $word 2>&1)
    code=$?
    last=$(printf '%s\n' "$output" | tail -n 1)
    case $last in
    *' passed, '*' failed') ;;
    *) last="0 passed, 1 failed" ;; # it did not come to its end
    esac
    [ $code -eq 0 ] || printf '%s\n' "$output"
    echo "$name: $last"
    set_passed=${last%% passed*}
    set_failed=${last#*, }
    set_failed=${set_failed% failed}
    [ $code -eq 0 ] || [ "$set_failed" -gt 0 ] || set_failed=1 # a sanitizer's verdict
    passed=$((passed + set_passed))
    failed=$((failed + set_failed))
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
