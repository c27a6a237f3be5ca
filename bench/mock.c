// The upstream of the benchmark: one thread, epoll, HTTP/1.1 with keep-alive, loopback only. It answers POST
// /…/chat/completions in the shape of Chat Completions, POST /…/messages in that of Messages, POST /…/responses in that
// of Responses and POST /…/models/M:generateContent and :streamGenerateContent in that of Gemini. Knows nothing of
// gateways. Prints its port, then serves until it is killed.
//
// A body with "stream":true, or Gemini's second path, gets a stream of CHUNKS text chunks, one write each, paced by the model's name:
// "paced-5" sends one every 5 ms. Each chunk carries "@" and the time of its write (CLOCK_MONOTONIC, nanoseconds,
// 16 hex digits), so that the reader on the same machine knows how old it is. Any other body gets a whole answer.
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { CHUNKS = 200, VARIANTS = 10, MOST_STREAMS = 65536, INPUT_START = 8192 };

// Bytes ready to be sent. `stamp` is the offset of the 16 hex digits, 0 where there are none.
typedef struct {
  char *bytes;
  size_t length, stamp;
} Piece;

// Everything one protocol can say.
typedef struct {
  Piece whole, opening, chunks[VARIANTS], closing, closing_with_usage;
} Script;

typedef struct Connection {
  int fd, chunk, blocked, streaming, with_usage;
  const Script *script;
  char *input;
  size_t input_length, input_size;
  const char *output;
  size_t output_left;
  char chunk_bytes[1024];
  uint64_t due, interval;
  // Position in the heap of paced streams; -1 when it is not there.
  int heap_at;
} Connection;

static Script chat, messages, responses, gemini;
static int poll_fd;
static Connection *heap[MOST_STREAMS];
static int heap_size;

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// ---- what is said

static Piece piece(const char *text) {
  Piece made = {strdup(text), strlen(text), 0};
  char *stamp = strchr(made.bytes, '@');
  if (stamp) made.stamp = (size_t)(stamp - made.bytes) + 1;
  return made;
}

// One HTTP chunk.
static Piece framed(const char *payload) {
  char text[4096];
  snprintf(text, sizeof text, "%zx\r\n%s\r\n", strlen(payload), payload);
  return piece(text);
}

static Piece joined(const char *before, Piece middle, const char *after) {
  char text[8192];
  snprintf(text, sizeof text, "%s%s%s", before, middle.bytes, after);
  return piece(text);
}

static Piece whole_answer(const char *format) {
  char prose[1024] = "", body[4096], text[8192];
  while (strlen(prose) < 700) strcat(prose, "A \\\"quoted\\\" sentence of the answer, ended by a line break.\\n");
  snprintf(body, sizeof body, format, prose);
  snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %zu\r\n\r\n%s", strlen(body), body);
  return piece(text);
}

static const char *const STREAM_HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n";
static const char *const WORDS[VARIANTS] = {" the", " gateway", " of", " measured", " tokens", " and", " \\\"quoted\\\"", " stream", " caf\xc3\xa9", " line\\n"};

static void build_scripts(void) {
  char text[4096];
#define CHAT_FRAME "data: {\"id\":\"chatcmpl-0123456789\",\"object\":\"chat.completion.chunk\",\"created\":1760000000,\"model\":\"bench-2026-01-01\",\"system_fingerprint\":\"fp_1\",\"choices\":"
#define CHAT_USAGE "{\"prompt_tokens\":512,\"completion_tokens\":200,\"total_tokens\":712,\"prompt_tokens_details\":{\"cached_tokens\":0}}"
  chat.whole = whole_answer("{\"id\":\"chatcmpl-0123456789\",\"object\":\"chat.completion\",\"created\":1760000000,\"model\":\"bench-2026-01-01\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"%s\",\"refusal\":null,\"annotations\":[]},\"logprobs\":null,\"finish_reason\":\"stop\"}],\"usage\":" CHAT_USAGE ",\"system_fingerprint\":\"fp_1\"}");
  chat.opening = joined(STREAM_HEAD, framed(CHAT_FRAME "[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null},\"logprobs\":null,\"finish_reason\":null}]}\n\n"), "");
  for (int i = 0; i < VARIANTS; i++) {
    snprintf(text, sizeof text, CHAT_FRAME "[{\"index\":0,\"delta\":{\"content\":\"%s @0000000000000000\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n", WORDS[i]);
    chat.chunks[i] = framed(text);
  }
  Piece finish = framed(CHAT_FRAME "[{\"index\":0,\"delta\":{},\"logprobs\":null,\"finish_reason\":\"stop\"}]}\n\n");
  Piece usage = framed(CHAT_FRAME "[],\"usage\":" CHAT_USAGE "}\n\n");
  Piece done = framed("data: [DONE]\n\n");
  done = joined("", done, "0\r\n\r\n");
  chat.closing = joined(finish.bytes, done, "");
  chat.closing_with_usage = joined(finish.bytes, usage, done.bytes);

  messages.whole = whole_answer("{\"id\":\"msg_0123456789\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"bench-2026-01-01\",\"content\":[{\"type\":\"text\",\"text\":\"%s\"}],\"stop_reason\":\"end_turn\",\"stop_sequence\":null,\"usage\":{\"input_tokens\":512,\"output_tokens\":200}}");
  messages.opening = joined(STREAM_HEAD, framed("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_0123456789\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"bench-2026-01-01\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":512,\"output_tokens\":1}}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"), "");
  for (int i = 0; i < VARIANTS; i++) {
    snprintf(text, sizeof text, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"%s @0000000000000000\"}}\n\n", WORDS[i]);
    messages.chunks[i] = framed(text);
  }
  messages.closing = joined("", framed("event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":200}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"), "0\r\n\r\n");
  messages.closing_with_usage = messages.closing;

#define RESPONSE_START "{\"id\":\"resp_0123456789\",\"object\":\"response\",\"created_at\":1760000000,\"error\":null,\"incomplete_details\":null,\"instructions\":null,\"metadata\":{},\"model\":\"bench-2026-01-01\",\"parallel_tool_calls\":true,\"temperature\":0.7,\"tool_choice\":\"auto\",\"tools\":[],\"top_p\":1,"
#define RESPONSE_USAGE "{\"input_tokens\":512,\"input_tokens_details\":{\"cached_tokens\":0},\"output_tokens\":200,\"output_tokens_details\":{\"reasoning_tokens\":0},\"total_tokens\":712}"
#define RESPONSE_ITEM "{\"id\":\"msg_0123456789abcdef\",\"type\":\"message\",\"role\":\"assistant\","
#define RESPONSE_EVENT(type, members) "event: " type "\ndata: {\"type\":\"" type "\",\"sequence_number\":1," members "}\n\n"
#define RESPONSE_PLACE "\"item_id\":\"msg_0123456789abcdef\",\"output_index\":0,\"content_index\":0"
  responses.whole = whole_answer(RESPONSE_START "\"status\":\"completed\",\"output\":[" RESPONSE_ITEM "\"status\":\"completed\",\"content\":[{\"type\":\"output_text\",\"text\":\"%s\",\"annotations\":[],\"logprobs\":[]}]}],\"usage\":" RESPONSE_USAGE "}");
#define RESPONSE_BEGUN "\"response\":" RESPONSE_START "\"status\":\"in_progress\",\"output\":[],\"usage\":null}"
  responses.opening = joined(STREAM_HEAD, framed(RESPONSE_EVENT("response.created", RESPONSE_BEGUN) RESPONSE_EVENT("response.in_progress", RESPONSE_BEGUN)
    RESPONSE_EVENT("response.output_item.added", "\"output_index\":0,\"item\":" RESPONSE_ITEM "\"status\":\"in_progress\",\"content\":[]}")
    RESPONSE_EVENT("response.content_part.added", RESPONSE_PLACE ",\"part\":{\"type\":\"output_text\",\"text\":\"\",\"annotations\":[],\"logprobs\":[]}")), "");
  for (int i = 0; i < VARIANTS; i++) {
    snprintf(text, sizeof text, RESPONSE_EVENT("response.output_text.delta", RESPONSE_PLACE ",\"delta\":\"%s @0000000000000000\",\"logprobs\":[]"), WORDS[i]);
    responses.chunks[i] = framed(text);
  }
  responses.closing = joined("", framed(RESPONSE_EVENT("response.completed", "\"response\":" RESPONSE_START "\"status\":\"completed\",\"output\":[],\"usage\":" RESPONSE_USAGE "}")), "0\r\n\r\n");
  responses.closing_with_usage = responses.closing;

  // Google counts in every chunk, and ends with an empty text.
#define GEMINI_USAGE "\"usageMetadata\":{\"promptTokenCount\":512,\"candidatesTokenCount\":200,\"totalTokenCount\":712,\"promptTokensDetails\":[{\"modality\":\"TEXT\",\"tokenCount\":512}]},\"modelVersion\":\"bench-2026-01-01\",\"responseId\":\"0123456789abcdef\"}"
#define GEMINI_ANSWER(text, finish) "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"" text "\"}],\"role\":\"model\"}," finish "\"index\":0}]," GEMINI_USAGE
  gemini.whole = whole_answer(GEMINI_ANSWER("%s", "\"finishReason\":\"STOP\","));
  gemini.opening = piece(STREAM_HEAD);
  for (int i = 0; i < VARIANTS; i++) {
    snprintf(text, sizeof text, "data: " GEMINI_ANSWER("%s @0000000000000000", "") "\r\n\r\n", WORDS[i]);
    gemini.chunks[i] = framed(text);
  }
  gemini.closing = joined("", framed("data: " GEMINI_ANSWER("", "\"finishReason\":\"STOP\",") "\r\n\r\n"), "0\r\n\r\n");
  gemini.closing_with_usage = gemini.closing;
}

// ---- the heap of paced streams, earliest first

static void heap_put(int at, Connection *connection) {
  heap[at] = connection;
  connection->heap_at = at;
}

static void heap_up(int at) {
  Connection *moved = heap[at];
  for (int parent = (at - 1) / 2; at > 0 && heap[parent]->due > moved->due; at = parent, parent = (at - 1) / 2) heap_put(at, heap[parent]);
  heap_put(at, moved);
}

static void heap_down(int at) {
  Connection *moved = heap[at];
  for (;;) {
    int child = 2 * at + 1;
    if (child >= heap_size) break;
    if (child + 1 < heap_size && heap[child + 1]->due < heap[child]->due) child++;
    if (heap[child]->due >= moved->due) break;
    heap_put(at, heap[child]);
    at = child;
  }
  heap_put(at, moved);
}

static void heap_add(Connection *connection) {
  if (heap_size == MOST_STREAMS) exit(3);
  heap_put(heap_size++, connection);
  heap_up(connection->heap_at);
}

static void heap_remove(Connection *connection) {
  int at = connection->heap_at;
  connection->heap_at = -1;
  Connection *last = heap[--heap_size];
  if (last == connection) return;
  heap_put(at, last);
  heap_up(at);
  heap_down(last->heap_at);
}

// ---- connections

static void watch(Connection *connection, int operation, uint32_t events) {
  struct epoll_event event = {.events = events, .data.ptr = connection};
  epoll_ctl(poll_fd, operation, connection->fd, &event);
}

static void close_connection(Connection *connection) {
  if (connection->heap_at >= 0) heap_remove(connection);
  close(connection->fd);
  free(connection->input);
  free(connection);
}

enum Sent { SENT, BLOCKED, CLOSED };

static enum Sent send_output(Connection *connection) {
  while (connection->output_left > 0) {
    ssize_t taken = write(connection->fd, connection->output, connection->output_left);
    if (taken < 0) {
      if (errno != EAGAIN) {
        close_connection(connection);
        return CLOSED;
      }
      connection->blocked = 1;
      watch(connection, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
      return BLOCKED;
    }
    connection->output += taken;
    connection->output_left -= (size_t)taken;
  }
  if (connection->blocked) {
    connection->blocked = 0;
    watch(connection, EPOLL_CTL_MOD, EPOLLIN);
  }
  return SENT;
}

static enum Sent say(Connection *connection, Piece said) {
  connection->output = said.bytes;
  connection->output_left = said.length;
  return send_output(connection);
}

static enum Sent say_stamped(Connection *connection, Piece said) {
  memcpy(connection->chunk_bytes, said.bytes, said.length);
  uint64_t time = now_ns();
  for (int digit = 15; digit >= 0; digit--, time >>= 4) connection->chunk_bytes[said.stamp + (size_t)digit] = "0123456789abcdef"[time & 15];
  said.bytes = connection->chunk_bytes;
  return say(connection, said);
}

// A stream's next write; `heap` holds it again when there is more to come.
static void advance(Connection *connection) {
  const Script *script = connection->script;
  if (connection->chunk >= CHUNKS) {
    connection->streaming = 0;
    say(connection, connection->with_usage ? script->closing_with_usage : script->closing);
    return;
  }
  int variant = connection->chunk++ % VARIANTS;
  if (say_stamped(connection, script->chunks[variant]) != SENT) return;
  connection->due += connection->interval;
  heap_add(connection);
}

static const char *header_value(const char *head, size_t length, const char *name) {
  size_t size = strlen(name);
  for (const char *line = memchr(head, '\n', length); line; line = memchr(line + 1, '\n', length - (size_t)(line + 1 - head))) {
    if (length - (size_t)(line + 1 - head) > size && !strncasecmp(line + 1, name, size)) return line + 1 + size;
  }
  return NULL;
}

// Answers the request at the start of the input. False when it is not complete yet, or the connection is gone.
static int answer_next(Connection *connection) {
  char *end = memmem(connection->input, connection->input_length, "\r\n\r\n", 4);
  if (!end) return 0;
  size_t head = (size_t)(end - connection->input) + 4;
  const char *length = header_value(connection->input, head, "content-length:");
  size_t body_length = length ? strtoul(length, NULL, 10) : 0;
  if (connection->input_length < head + body_length) return 0;
  const char *body = connection->input + head;

  const char *line_end = memchr(connection->input, '\r', head);
  size_t line_length = (size_t)(line_end - connection->input);
  const char *line = connection->input;
  int is_gemini = memmem(line, line_length, "enerateContent", 14) != NULL;
  connection->script = is_gemini ? &gemini : memmem(line, line_length, "/messages", 9) ? &messages : memmem(line, line_length, "/responses", 10) ? &responses : &chat;
  const char *model = is_gemini ? line : memmem(body, body_length, "\"model\":\"", 9);
  size_t model_room = is_gemini ? line_length : model ? body_length - (size_t)(model - body) : 0;
  const char *pace = model ? memmem(model, model_room < 80 ? model_room : 80, "paced-", 6) : NULL;
  connection->interval = pace ? strtoull(pace + 6, NULL, 10) * 1000000u : 0;
  connection->streaming = is_gemini ? memmem(line, line_length, ":streamGenerateContent", 22) != NULL : memmem(body, body_length, "\"stream\":true", 13) != NULL;
  connection->with_usage = connection->streaming && memmem(body, body_length, "\"include_usage\":true", 20) != NULL;

  connection->input_length -= head + body_length;
  memmove(connection->input, connection->input + head + body_length, connection->input_length);
  if (!connection->streaming) return say(connection, connection->script->whole) == SENT;
  connection->chunk = 0;
  if (say(connection, connection->script->opening) != SENT) return 0;
  connection->due = now_ns() + connection->interval;
  heap_add(connection);
  return 0;
}

static int readable(Connection *connection) {
  for (;;) {
    if (connection->input_size - connection->input_length < 4096) {
      connection->input_size *= 4;
      connection->input = realloc(connection->input, connection->input_size);
    }
    size_t room = connection->input_size - connection->input_length;
    ssize_t taken = read(connection->fd, connection->input + connection->input_length, room);
    if (taken < 0 && errno == EAGAIN) return 1;
    if (taken <= 0) return 0;
    connection->input_length += (size_t)taken;
    if ((size_t)taken < room) return 1;
  }
}

static void on_event(Connection *connection, uint32_t events) {
  if (events & EPOLLOUT) {
    if (send_output(connection) != SENT) return;
    if (connection->streaming && connection->heap_at < 0) {
      connection->due = now_ns() + connection->interval;
      heap_add(connection);
    }
  }
  if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR))) return;
  if (!readable(connection)) return close_connection(connection);
  while (!connection->streaming && !connection->blocked && connection->input_length > 0 && answer_next(connection)) continue;
}

static void accept_all(int listener) {
  int fd, on = 1;
  while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    Connection *connection = calloc(1, sizeof *connection);
    connection->fd = fd;
    connection->heap_at = -1;
    connection->input_size = INPUT_START;
    connection->input = malloc(INPUT_START);
    watch(connection, EPOLL_CTL_ADD, EPOLLIN);
  }
}

// A thousand streams need more descriptors than a shell usually grants.
static void raise_descriptor_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit)) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int count, char **arguments) {
  signal(SIGPIPE, SIG_IGN);
  raise_descriptor_limit();
  build_scripts();
  int on = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)(count > 1 ? atoi(arguments[1]) : 0)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 4096) || getsockname(listener, (struct sockaddr *)&address, &size)) {
    perror("mock");
    return 1;
  }
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);

  poll_fd = epoll_create1(EPOLL_CLOEXEC);
  int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  static Connection listening, ticking;
  listening.fd = listener;
  ticking.fd = timer;
  watch(&listening, EPOLL_CTL_ADD, EPOLLIN);
  watch(&ticking, EPOLL_CTL_ADD, EPOLLIN);
  uint64_t armed = 0;
  for (;;) {
    uint64_t due = heap_size > 0 ? heap[0]->due : 0;
    if (due != armed) {
      struct itimerspec at = {.it_value = {.tv_sec = (time_t)(due / 1000000000u), .tv_nsec = (long)(due % 1000000000u)}};
      timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL);
      armed = due;
    }
    struct epoll_event events[256];
    int ready = epoll_wait(poll_fd, events, 256, -1);
    for (int i = 0; i < ready; i++) {
      Connection *connection = events[i].data.ptr;
      if (connection == &listening) accept_all(listener);
      else if (connection == &ticking) {
        uint64_t ticks;
        if (read(timer, &ticks, sizeof ticks) > 0) armed = 0;
      } else on_event(connection, events[i].events);
    }
    for (uint64_t now = now_ns(); heap_size > 0 && heap[0]->due <= now;) {
      Connection *connection = heap[0];
      heap_remove(connection);
      advance(connection);
    }
  }
}
