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

/* [low, high] is the sensible search range; [min, max] is the valid range. */
struct kneepoint_parameter {
  const char* name;
  const char* unit;
  const char* meaning;
  double fallback;
  double low;
  double high;
  double min;
  double max;
  int is_integer;
  int is_log;
};

/* Needs of a rule that only some transports meet. A run of the rule on any other transport is
 * refused. */
enum kneepoint_need {
  KNEEPOINT_NEEDS_RECEIVER_CLOCK = 1, /* received_ms is known */
  KNEEPOINT_NEEDS_TIMEOUTS = 2,       /* on_loss reports retransmission timeouts (TCP) */
  KNEEPOINT_NEEDS_MARKS = 4,          /* on_loss reports marks (TCP with ECN) */
  KNEEPOINT_NEEDS_COUNTED_MARKS = 8,  /* its packets are ECT(1); `marked` counts marks */
  KNEEPOINT_NEEDS_HEARTBEATS = 16     /* keepalives have no payload; only sent packets delay them */
};

struct kneepoint_declaration {
  const char* name; /* as in the file's name, NAME.so */
  const char* summary;
  const char* source;
  size_t parameter_count;
  const struct kneepoint_parameter* const* parameters;
  uint32_t needs; /* a sum of kneepoint_need */
};

/* Times in milliseconds are whole milliseconds of the sender's clock. */
struct kneepoint_sent {
  uint64_t sequence_number;
  int64_t now_ms;
};

/* An acknowledgment, the same for datagrams and for TCP's segments. The delivery of a packet is
 * reported once. */
struct kneepoint_ack {
  uint64_t sequence_number; /* of the packet that is acknowledged */
  int64_t sent_ms;          /* sender's clock when it left */
  /* receiver's clock when it arrived; -1: the transport does not report it */
  int64_t received_ms KNEEPOINT_DEFAULT(-1);
  int64_t ack_received_ms;             /* sender's clock when the acknowledgment arrived */
  int64_t now_us KNEEPOINT_DEFAULT(0); /* sender's clock */
  /* as precise as the transport's clock; -1: no RTT was measured */
  int64_t rtt_us KNEEPOINT_DEFAULT(-1);
  /* packets newly acknowledged, by SACK or cumulatively */
  uint64_t acknowledged KNEEPOINT_DEFAULT(1);
  /* packets after this event: sent, and neither delivered nor known to be lost */
  uint64_t in_flight KNEEPOINT_DEFAULT(0);
  uint64_t delivered KNEEPOINT_DEFAULT(0); /* packets so far, SACK included */
  uint64_t lost KNEEPOINT_DEFAULT(0);      /* packets known to be lost so far */
  /* packets delivered since the last acknowledgment that a queue marked; 0 unless the rule needs
   * counted marks */
  uint64_t marked KNEEPOINT_DEFAULT(0);
  /* The packet was sent before the last loss was detected, and that loss is still being repaired:
   * the acknowledgment does not let the window grow. */
  int is_recovering KNEEPOINT_DEFAULT(0);
  /* The window limits the packets in flight, rather than the application or a socket's buffer. If
   * it does not, no window grows (RFC 9002, section 7.8). */
  int is_cwnd_limited KNEEPOINT_DEFAULT(1);

#ifdef __cplusplus
  int64_t rtt_ms() const { return ack_received_ms - sent_ms; }
#endif
};

struct kneepoint_keepalive {
  int64_t now_ms;
  int64_t now_us;
  uint64_t in_flight; /* packets before this event */
  /* no packet sent after the last keepalive has been acknowledged */
  int is_repeated KNEEPOINT_DEFAULT(0);
};

enum kneepoint_loss_kind {
  KNEEPOINT_LOST = 1,      /* later packets arrived; reported at most once in a round trip */
  KNEEPOINT_TIMED_OUT = 2, /* no acknowledgment came for a retransmission timeout */
  KNEEPOINT_MARKED = 3     /* a queue marked packets; reported at most once in a round trip */
};

struct kneepoint_loss {
  int64_t now_ms;
  int64_t now_us;
  int kind;           /* one of kneepoint_loss_kind */
  uint64_t in_flight; /* packets sent and not acknowledged when the loss was detected */
  /* the timeout of a packet that has timed out before: ssthresh stays (RFC 5681, section 3.1) */
  int is_repeated KNEEPOINT_DEFAULT(0);

#ifdef __cplusplus
  enum Kind { lost = KNEEPOINT_LOST, timed_out = KNEEPOINT_TIMED_OUT, marked = KNEEPOINT_MARKED };
#endif
};

/* The last losses were spurious: the packets were late, not lost (RFC 3522). */
struct kneepoint_undo {
  int64_t now_ms;
  int64_t now_us;
};

enum kneepoint_failure_kind {
  KNEEPOINT_FAILED = 1,       /* an error of the controller */
  KNEEPOINT_OUT_OF_MEMORY = 2 /* a fault of the machine */
};

struct kneepoint_failure {
  int kind;
  const char* text; /* one line */
};

/* A call reports a failure by its return value: NULL (declare, create), NaN (window, keepalive_ms,
 * pacing_us) or a number other than 0 (events). */
struct kneepoint_interface {
  uint32_t version; /* KNEEPOINT_INTERFACE_VERSION */

  const struct kneepoint_declaration* (*declare)(void);

  /* `values` has one value for each declared parameter, in the order of the declaration. Each lies
   * in [min, max], and is whole where the parameter is an integer. */
  void* (*create)(const double* values, size_t count);
  void (*destroy)(void* controller);

  /* Packets; the integer part bounds the datagrams in flight. */
  double (*window)(const void* controller);

  /* How long the sender stays silent before it sends one datagram, even if the window is full. */
  double (*keepalive_ms)(const void* controller);

  /* Why the last call failed; NULL if it did not. Valid until the next call. */
  const struct kneepoint_failure* (*failure)(void);

  /* NULL if a controller does not handle the event. */
  int (*on_sent)(void* controller, const struct kneepoint_sent* event);
  int (*on_ack)(void* controller, const struct kneepoint_ack* event);
  int (*on_keepalive)(void* controller, const struct kneepoint_keepalive* event);
  int (*on_loss)(void* controller, const struct kneepoint_loss* event);

  /* The time between two datagrams, in microseconds, asked after each datagram. NULL if the
   * controller does not pace: it then sends as soon as the window allows. */
  double (*pacing_us)(const void* controller);

  /* Whether the controller's window also bounds the sender in loss recovery, in place of the
   * transport's. on_ack is then also called for acknowledgments that report new packets only by
   * SACK. */
  int governs_recovery;

  /* NULL if the controller does not take back its reactions to spurious losses. */
  int (*on_undo)(void* controller, const struct kneepoint_undo* event);
};

/* The one symbol that a controller exports. Its result lives as long as the shared object. */
#define KNEEPOINT_ENTRY "kneepoint_controller"
__attribute__((visibility("default"))) const struct kneepoint_interface* kneepoint_controller(void);

#ifdef __cplusplus
}
#endif

#endif
