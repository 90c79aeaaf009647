/* ngc_sorting.c - see ngc_sorting.h. */
#include "ngc_sorting.h"

#include <stdlib.h>
#include <string.h>

enum { RUN = 1024 };

void ngc_sorting_end(ngc_sorting *self)
{
    free(self->items);
    free(self->other);
    self->items = self->other = NULL;
}

ngc_status ngc_sorting_begin(ngc_sorting *self, size_t n, size_t item_bytes, ngc_compare *compare)
{
    *self = (ngc_sorting){.n = n, .item_bytes = item_bytes, .compare = compare};
    self->items = malloc((n + 1) * item_bytes);
    self->other = n <= RUN ? NULL : malloc(n * item_bytes);
    if (self->items == NULL || (n > RUN && self->other == NULL)) {
        ngc_sorting_end(self);
        return NGC_NO_MEMORY;
    }
    return NGC_OK;
}

void ngc_sorting_again(ngc_sorting *self, size_t n)
{
    self->n = n;
    self->width = self->at = 0;
}

static uint8_t *item(const ngc_sorting *self, size_t i)
{
    return self->items + i * self->item_bytes;
}

static size_t at_most(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void begin_pass(ngc_sorting *self, size_t width)
{
    self->width = width;
    self->at = self->left = 0;
    self->right = at_most(width, self->n);
}

static void make_runs(ngc_sorting *self, size_t n_items)
{
    for (size_t done = 0; self->at < self->n && done < n_items; done += RUN) {
        size_t length = at_most(RUN, self->n - self->at);
        qsort(item(self, self->at), length, self->item_bytes, self->compare);
        self->at += length;
    }
    if (self->at == self->n) {
        begin_pass(self, RUN);
    }
}

/* Puts out the next item of two runs, which begin at a multiple of twice their width. */
static void merge_items(ngc_sorting *self, size_t n_items)
{
    size_t two = 2 * self->width, bytes = self->item_bytes;
    for (; n_items > 0 && self->at < self->n; n_items--, self->at++) {
        size_t start = self->at / two * two;
        if (self->at == start) {
            self->left = start;
            self->right = at_most(start + self->width, self->n);
        }
        size_t left_end = at_most(start + self->width, self->n);
        size_t right_end = at_most(start + two, self->n);
        bool from_left = self->right == right_end ||
                         (self->left < left_end &&
                          self->compare(item(self, self->left), item(self, self->right)) <= 0);
        size_t from = from_left ? self->left++ : self->right++;
        memcpy(self->other + self->at * bytes, item(self, from), bytes);
    }
}

bool ngc_sorting_step(ngc_sorting *self, size_t n_items)
{
    if (self->width == 0) {
        make_runs(self, n_items);
    } else if (self->width < self->n) {
        merge_items(self, n_items);
        if (self->at == self->n) {
            uint8_t *sorted = self->other;
            self->other = self->items;
            self->items = sorted;
            begin_pass(self, 2 * self->width);
        }
    }
    return self->width >= self->n && self->width > 0;
}
