/* The interface between a congestion controller, which is a shared object NAME.so, and the program
 * that runs it. C++ authors need not read it: algorithms/registry.hh makes it from a class.
 *
 * The version stands for the members of every struct: a program loads no controller of another
 * version. Nothing may be thrown across the interface. Texts are UTF-8. */
#ifndef KNEEPOINT_INTERFACE_H
#define KNEEPOINT_INTERFACE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define KNEEPOINT_DEFAULT(value) = value
#else
#define KNEEPOINT_DEFAULT(value)
#endif

#define KNEEPOINT_INTERFACE_VERSION 2

/* [low, high] is the sensible search range; [least, most] is the valid range. */
struct kneepoint_parameter {
  const char* name;
  const char* unit;
  const char* meaning;
  double fallback;
  double low;
  double high;
  double least;
  double most;
  int is_integer;
  int is_log;
};

/* A rule's needs that not every transport meets. A run of such a rule on another
 * transport is refused. */
enum kneepoint_need {
  KNEEPOINT_NEEDS_RECEIVER_CLOCK = 1, /* received_ms is known */
  KNEEPOINT_NEEDS_TIMEOUTS = 2,       /* on_loss hears of retransmission timeouts: TCP's */
  KNEEPOINT_NEEDS_MARKS = 4,          /* on_loss hears of marks: TCP's with ECN */
  KNEEPOINT_NEEDS_COUNTED_MARKS = 8,  /* its packets are ECT(1); `marked` counts marks */
  KNEEPOINT_NEEDS_HEARTBEATS = 16     /* keepalives are empty, and only its packets delay them */
};

struct kneepoint_declaration {
  const char* name; /* the file's: NAME.so */
  const char* summary;
  const char* source;
  size_t parameter_count;
  const struct kneepoint_parameter* const* parameters;
  uint32_t needs; /* a sum of kneepoint_need */
};

/* Times in milliseconds are whole ones of the sender's clock. */
struct kneepoint_sent {
  uint64_t sequence_number;
  int64_t now_ms;
};

/* The same on every transport, of datagrams and of TCP's segments. No packet's delivery is told
 * twice. */
struct kneepoint_ack {
  uint64_t sequence_number; /* of the packet that is acknowledged */
  int64_t sent_ms;          /* sender's clock when it left */
  /* receiver's clock when it arrived; -1: the transport does not tell */
  int64_t received_ms KNEEPOINT_DEFAULT(-1);
  int64_t ack_received_ms;             /* sender's clock when the acknowledgment arrived */
  int64_t now_us KNEEPOINT_DEFAULT(0); /* sender's clock */
  /* as precise as the transport's clock; -1: none was measured */
  int64_t rtt_us KNEEPOINT_DEFAULT(-1);
  /* packets that nothing, SACK included, has reported before */
  uint64_t acknowledged KNEEPOINT_DEFAULT(1);
  /* packets, after it: sent, neither delivered nor known to be lost */
  uint64_t in_flight KNEEPOINT_DEFAULT(0);
  uint64_t delivered KNEEPOINT_DEFAULT(0); /* packets so far, SACK included */
  uint64_t lost KNEEPOINT_DEFAULT(0);      /* packets known to be lost so far */
  /* of the packets delivered since the last acknowledgment, those that a queue marked; 0 for a
   * rule that does not need it */
  uint64_t marked KNEEPOINT_DEFAULT(0);
  /* It left before the last loss was found, and that is being repaired: no window grows by it. */
  int is_recovering KNEEPOINT_DEFAULT(0);
  /* The window bounds what is in flight, not the application or a socket's buffer: elsewhere no
   * window grows (RFC 9002, section 7.8). */
  int is_cwnd_limited KNEEPOINT_DEFAULT(1);

#ifdef __cplusplus
  int64_t rtt_ms() const { return ack_received_ms - sent_ms; }
#endif
};

struct kneepoint_keepalive {
  int64_t now_ms;
  int64_t now_us;
  uint64_t in_flight;                   /* packets, before it */
  int is_repeated KNEEPOINT_DEFAULT(0); /* nothing sent later was acknowledged since the last */
};

enum kneepoint_loss_kind {
  KNEEPOINT_LOST = 1,      /* later packets arrived: at most once in a round trip */
  KNEEPOINT_TIMED_OUT = 2, /* nothing arrived for a retransmission timeout */
  KNEEPOINT_MARKED = 3 /* congestion was marked, and nothing lost: at most once in a round trip */
};

struct kneepoint_loss {
  int64_t now_ms;
  int64_t now_us;
  int kind;           /* one of kneepoint_loss_kind */
  uint64_t in_flight; /* packets that were sent and not acknowledged when it was found out */
  /* a timeout of a packet that has timed out before: ssthresh holds (RFC 5681, section 3.1) */
  int is_repeated KNEEPOINT_DEFAULT(0);

#ifdef __cplusplus
  enum Kind { lost = KNEEPOINT_LOST, timed_out = KNEEPOINT_TIMED_OUT, marked = KNEEPOINT_MARKED };
#endif
};

/* What the last losses told of was late, not lost: RFC 3522. */
struct kneepoint_undo {
  int64_t now_ms;
  int64_t now_us;
};

enum kneepoint_failure_kind {
  KNEEPOINT_FAILED = 1,       /* the controller's own doing */
  KNEEPOINT_OUT_OF_MEMORY = 2 /* the machine's */
};

struct kneepoint_failure {
  int kind;
  const char* text; /* one line */
};

/* A call reports a failure by its return value: NULL (declare, create), NaN (window, keepalive_ms,
 * pacing_us) or another number than 0 (events). */
struct kneepoint_interface {
  uint32_t version; /* KNEEPOINT_INTERFACE_VERSION */

  const struct kneepoint_declaration* (*declare)(void);

  /* `values` has one value for each declared parameter, in the order of the declaration. Each lies
   * in [least, most], and is whole where the parameter is an integer. */
  void* (*create)(const double* values, size_t count);
  void (*destroy)(void* controller);

  /* Packets; the integer part bounds the datagrams in flight. */
  double (*window)(const void* controller);

  /* How long the sender stays silent before it sends one datagram, window or not. */
  double (*keepalive_ms)(const void* controller);

  /* Why the last call failed; NULL if it did not. Valid until the next call. */
  const struct kneepoint_failure* (*failure)(void);

  /* NULL if a controller does not handle the event. */
  int (*on_sent)(void* controller, const struct kneepoint_sent* event);
  int (*on_ack)(void* controller, const struct kneepoint_ack* event);
  int (*on_keepalive)(void* controller, const struct kneepoint_keepalive* event);
  int (*on_loss)(void* controller, const struct kneepoint_loss* event);

  /* The time between two datagrams, in microseconds, asked after each. NULL where a controller does
   * not pace: it sends as soon as the window allows. */
  double (*pacing_us)(const void* controller);

  /* Whether its window holds in loss recovery, too, and not the transport's. It then hears of each
   * acknowledgment that SACK alone gives something to tell. */
  int governs_recovery;

  /* NULL where a controller keeps what losses that were none have left it. */
  int (*on_undo)(void* controller, const struct kneepoint_undo* event);
};

/* The one symbol that a controller exports. What it returns lives as long as the shared object. */
#define KNEEPOINT_ENTRY "kneepoint_controller"
__attribute__((visibility("default"))) const struct kneepoint_interface* kneepoint_controller(void);

#ifdef __cplusplus
}
#endif

#endif
