/* Three nodes of a ring in one program, in C: they exchange frames, settle, and take turns
 * with a permit. The same program runs on a computer and, without a C library, on a board.
 * The last line says what happened; exit code 0: every node had its turns.
 *
 *     cc example.c libheadway.a -o example
 */
#include "headway.h"

#define NODES 3
#define TURNS 10

#ifdef __arm__
/* The first serial line of the LM3S6965. */
static void put(char letter) { *(volatile uint32_t *)0x4000C000 = (uint32_t)letter; }

static void leave(int code) {
    /* Semihosting: SYS_EXIT_EXTENDED, "application exit". */
    static uint32_t why[2];
    why[0] = 0x20026;
    why[1] = (uint32_t)code;
    __asm__ volatile("mov r0, #0x20\n mov r1, %0\n bkpt 0xAB" : : "r"(why) : "r0", "r1", "memory");
    for (;;) {
    }
}
#else
#include <stdio.h>
#include <stdlib.h>

static void put(char letter) { putchar(letter); }
static void leave(int code) { exit(code); }
#endif

static void say(const char *text) {
    while (*text) put(*text++);
}

static void number(uint32_t value) {
    if (value >= 10) number(value / 10);
    put((char)('0' + value % 10));
}

/* What the library calls if its memory makes no sense. */
void headway_stop(void) {
    say("stopped\n");
    leave(1);
    for (;;) {
    }
}

static headway_node nodes[NODES];
static headway_reader readers[NODES];
static uint32_t permits[NODES];

/* A frame on its way: whoever receives it reads it byte by byte. */
static void carry(uint64_t now, uint32_t from) {
    uint8_t datagram[HEADWAY_DATAGRAM_BYTES], line[HEADWAY_FRAME_BYTES];
    uint32_t to;
    size_t bytes;
    while ((bytes = headway_node_transmit(&nodes[from], &to, datagram, sizeof datagram)) > 0) {
        size_t length = headway_frame_write(datagram, bytes, line, sizeof line);
        for (size_t at = 0; at < length; at++) {
            const uint8_t *arrived;
            size_t found = headway_reader_push(&readers[to], line[at], &arrived);
            if (found > 0) headway_node_datagram(&nodes[to], now, arrived, found);
        }
    }
}

static void work(uint64_t now, uint32_t index) {
    headway_event event;
    while ((event = headway_node_event(&nodes[index])).kind != HEADWAY_EVENT_KIND_NONE) {
        if (event.kind == HEADWAY_EVENT_KIND_GRANTED) {
            /* Nobody else has this token now: measure, transmit, blink. */
            permits[index]++;
            headway_node_done(&nodes[index], now, event.token, event.fence);
        }
    }
}

int main(void) {
    static const uint8_t key[] = "a key for every link of the ring";
    /* The core alone: a token arrives, rests, and goes on after the separation. */
    headway_process process = {0, 0, 2};
    uint32_t rounds = 0;
    for (process = headway_delay(process, 1, 3); process.queued == 0; rounds++)
        process = headway_delay(process, 0, 3);
    say("a token went on after ");
    number(rounds);
    say(" rounds\n");

    for (uint32_t index = 0; index < NODES; index++) {
        headway_config config = {
            .ring = {'e', 'x', 'a', 'm', 'p', 'l', 'e'},
            .index = index,
            .nodes = NODES,
            .tokens = 1,
            .separation = 1,
            .refresh = 20000,
            .heartbeat_timeout = 500000,
            .max_hold = 1000000,
            .stop_timeout = 1000,
            .predecessor_key = key,
            .successor_key = key,
            .key_bytes = sizeof key - 1,
        };
        if (headway_node_init(&nodes[index], &config, 77 + index) != HEADWAY_RESULT_OK) {
            say("wrong configuration\n");
            leave(1);
        }
        headway_reader_init(&readers[index]);
    }
    uint64_t now = 0;
    bool settled = false, served = false;
    for (uint32_t step = 0; step < 10000 && !(settled && served); step++) {
        now += 1000;
        settled = served = true;
        for (uint32_t index = 0; index < NODES; index++) {
            if (headway_node_next(&nodes[index]) <= now) headway_node_timeout(&nodes[index], now);
            work(now, index);
            carry(now, index);
            settled = settled && headway_node_settled(&nodes[index]);
            served = served && permits[index] >= TURNS;
        }
    }
    say(settled ? "settled after " : "not settled after ");
    number((uint32_t)(now / 1000));
    say(" ms; permits");
    for (uint32_t index = 0; index < NODES; index++) {
        put(' ');
        number(permits[index]);
    }
    put('\n');
    leave(settled && served ? 0 : 1);
    return 0;
}
