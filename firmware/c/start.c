/* How the board starts a C program: the vectors, and memory as C wants it. */
#include <stdint.h>

extern uint32_t data_from[], data_start[], data_end[], bss_start[], bss_end[], stack_top[];
int main(void);

static void start(void) {
    uint32_t *from = data_from, *to = data_start;
    while (to < data_end) *to++ = *from++;
    for (to = bss_start; to < bss_end;) *to++ = 0;
    main();
    for (;;) {
    }
}

__attribute__((section(".vectors"), used)) static const void *const vectors[] = {
    stack_top,
    (const void *)start,
};
