// Headway for C: permits that travel round a ring, kept apart. Nothing here allocates.
// Made by cbindgen from firmware/c/src/lib.rs; do not edit.

#ifndef HEADWAY_H
#define HEADWAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Room for a node, in words of 8 bytes.
#define HEADWAY_NODE_WORDS 180

// Room for a reader of frames, in words of 8 bytes.
#define HEADWAY_READER_WORDS 24

// The longest frame of a ring of 4 tokens without payload.
#define HEADWAY_FRAME_BYTES 167

// The longest datagram of a ring of 4 tokens without payload.
#define HEADWAY_DATAGRAM_BYTES 160

// What the application should know.
typedef enum headway_event_kind {
  // Nothing.
  HEADWAY_EVENT_KIND_NONE,
  // The application may work, until `headway_node_done`.
  HEADWAY_EVENT_KIND_GRANTED,
  // It has to stop, and to say so by `headway_node_done`.
  HEADWAY_EVENT_KIND_WITHDRAWN,
  // Everything was legitimate for a whole turn.
  HEADWAY_EVENT_KIND_SETTLED,
  // Something is not.
  HEADWAY_EVENT_KIND_UNSETTLED,
  // A neighbour is silent, or is heard again, or a datagram was rejected.
  HEADWAY_EVENT_KIND_OTHER,
} headway_event_kind;

// What happened to a call.
typedef enum headway_result {
  // Done.
  HEADWAY_RESULT_OK,
  // The tokens do not fit, or there are too many.
  HEADWAY_RESULT_PLAN,
  // A time or the index makes no sense.
  HEADWAY_RESULT_CONFIG,
  // A key is too short.
  HEADWAY_RESULT_KEY,
} headway_result;

// A process of a ring with rounds: the paper's three variables.
typedef struct headway_process {
  // Tokens that leave in the next round.
  uint32_t queued;
  // Tokens that wait.
  uint32_t resting;
  // Rounds until it may release again.
  int32_t counter;
} headway_process;

// A node; only its size is known.
typedef struct headway_node {
  uint64_t opaque[HEADWAY_NODE_WORDS];
} headway_node;

// What a node is told. Every node of a ring has to be told the same but its index and keys.
typedef struct headway_config {
  // Which ring: any 16 bytes.
  uint8_t ring[16];
  // This node's place, from 0.
  uint32_t index;
  // Nodes of the ring.
  uint32_t nodes;
  // Permits that travel, at most 4.
  uint32_t tokens;
  // The least distance between two permits in use, in hops.
  uint32_t separation;
  // The state is sent again after so many microseconds without a change.
  uint64_t refresh;
  // A neighbour that was not heard for so many microseconds is silent.
  uint64_t heartbeat_timeout;
  // The least time between two ticks, in microseconds.
  uint64_t tick;
  // A permit is withdrawn after so many microseconds.
  uint64_t max_hold;
  // And has to be given back within so many.
  uint64_t stop_timeout;
  // The key that the predecessor has for this node, or NULL for none.
  const uint8_t *predecessor_key;
  // The key that the successor has for this node, or NULL for none.
  const uint8_t *successor_key;
  // The length of both keys, 16 at least.
  size_t key_bytes;
} headway_config;

// Something that the application should know.
typedef struct headway_event {
  // What.
  enum headway_event_kind kind;
  // Of a permit: its token.
  uint32_t token;
  // Of a permit: its fencing number.
  uint64_t fence;
} headway_event;

// A reader of frames; only its size is known.
typedef struct headway_reader {
  uint64_t opaque[HEADWAY_READER_WORDS];
} headway_reader;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// One round of `delay` with so many tokens arriving; `separation` is d.
struct headway_process headway_delay(struct headway_process process,
                                     uint32_t arriving,
                                     uint32_t separation);

// One round of `relay` with so many tokens arriving.
struct headway_process headway_relay(struct headway_process process, uint32_t arriving);

// Makes a node in `node`. `incarnation` is a number that it never had before: a random one.
//
// # Safety
//
// `node` and `config` are valid, and so are the keys in it.
enum headway_result headway_node_init(struct headway_node *node,
                                      const struct headway_config *config,
                                      uint64_t incarnation);

// A datagram has arrived. Whether it was believed. `now` is in microseconds since any
// moment, here and everywhere.
//
// # Safety
//
// `node` was made by `headway_node_init`, and `datagram` has so many bytes.
bool headway_node_datagram(struct headway_node *node,
                           uint64_t now,
                           const uint8_t *datagram,
                           size_t bytes);

// Time has passed.
//
// # Safety
//
// `node` was made by `headway_node_init`.
void headway_node_timeout(struct headway_node *node, uint64_t now);

// When to call `headway_node_timeout` at the latest.
//
// # Safety
//
// `node` was made by `headway_node_init`.
uint64_t headway_node_next(struct headway_node *node);

// The application has finished with a permit, or has stopped as it was asked to. Whether
// there was such a permit.
//
// # Safety
//
// `node` was made by `headway_node_init`.
bool headway_node_done(struct headway_node *node, uint64_t now, uint32_t token, uint64_t fence);

// Writes the next datagram into `buffer`, and its receiver's index into `to`. Its length; 0
// if there is none, or no room for it.
//
// # Safety
//
// `node` was made by `headway_node_init`, `buffer` has room for `bytes`, `to` is valid.
size_t headway_node_transmit(struct headway_node *node,
                             uint32_t *to,
                             uint8_t *buffer,
                             size_t bytes);

// The next thing that the application should know.
//
// # Safety
//
// `node` was made by `headway_node_init`.
struct headway_event headway_node_event(struct headway_node *node);

// Whether everything that this node saw for a whole turn was legitimate.
//
// # Safety
//
// `node` was made by `headway_node_init`.
bool headway_node_settled(struct headway_node *node);

// Writes a datagram as a frame for a serial line. Its length; 0 if there is no room for it.
//
// # Safety
//
// `datagram` has so many bytes, and `frame` room for `room`.
size_t headway_frame_write(const uint8_t *datagram, size_t bytes, uint8_t *frame, size_t room);

// Makes a reader of frames in `reader`.
//
// # Safety
//
// `reader` is valid.
void headway_reader_init(struct headway_reader *reader);

// The next byte of the line. If it ends a datagram: its length, and where it is until the
// next call; else 0.
//
// # Safety
//
// `reader` was made by `headway_reader_init`, and `datagram` is valid.
size_t headway_reader_push(struct headway_reader *reader, uint8_t byte, const uint8_t **datagram);

// What to do when something is wrong that cannot be: the program that uses the library
// says, and does not return. A board starts again.
extern void headway_stop(void);

#ifdef __cplusplus
} // extern "C"
#endif // __cplusplus

#endif /* HEADWAY_H */
