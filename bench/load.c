// The client of the benchmark: one thread, epoll, a fixed number of HTTP/1.1 keep-alive connections that send the
// same POST again and again, each as soon as its last answer is complete, or at a steady rate. Checks every answer,
// measures inside a window, and prints one JSON object. Knows nothing of gateways.
//
// load --port N --body FILE [--path P] [--connections N] [--warm S] [--seconds S] [--ramp S] [--stamps N] [--repeat 0|1]
//      [--requests N] [--rate N] [--header "name: value"]… [--pid N]…
//
// --requests: ends after this many answers, where that is before the time. --rate: requests a second of each
// connection; a turn that finds the last answer incomplete is left out. --stamps: how many stamped chunks (see
// mock.c) each answer must hold. --pid: processes whose CPU time over the window and whose largest resident memory are
// reported. All times in microseconds.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST_PIDS = 32, HEAD_SIZE = 8192 };

typedef struct {
  uint32_t *values;
  size_t count, size;
} Samples;

enum Reading { READ_HEAD, READ_LENGTH, READ_SIZE, READ_CHUNK, READ_CHUNK_END, READ_TRAILER };

typedef struct {
  int fd, connected, busy, status;
  enum Reading reading;
  size_t unsent, left;
  char head[HEAD_SIZE];
  size_t head_length, trailer_length;
  uint64_t sent_at, due_at, stamp;
  // 0: outside of a stamp; else 1 + the number of its digits read.
  int stamp_digits, stamps;
} Connection;

static Connection *connections;
static int poll_fd, connection_count = 1, wanted_stamps, texts_repeat, measuring, streaming_now, streaming_peak;
static struct sockaddr_in address;
static char *request;
static size_t request_length;
static int pids[MOST_PIDS], pid_count;
static uint64_t pace_ns, end_at, most_requests = UINT64_MAX, begun, done, errors, chunks;
static char first_error[200];
static Samples latencies, first_delays, delays;

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// ---- what is measured

static void add(Samples *samples, uint64_t ns) {
  if (samples->count == samples->size) {
    samples->size = samples->size ? samples->size * 2 : 65536;
    samples->values = realloc(samples->values, samples->size * sizeof(uint32_t));
  }
  samples->values[samples->count++] = (uint32_t)(ns / 1000);
}

static int ascending(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static void print_samples(const char *name, Samples *samples) {
  qsort(samples->values, samples->count, sizeof(uint32_t), ascending);
  size_t n = samples->count;
  const uint32_t *v = samples->values;
  if (n == 0) printf(",\"%s\":null", name);
  else printf(",\"%s\":{\"count\":%zu,\"p50\":%u,\"p99\":%u,\"max\":%u}", name, n, v[n / 2], v[n * 99 / 100], v[n - 1]);
}

// CPU time of all threads of the processes, in nanoseconds: exact from schedstat, else in clock ticks from stat.
static uint64_t cpu_ns(void) {
  uint64_t total = 0;
  for (int i = 0; i < pid_count; i++) {
    char path[300];
    uint64_t exact = 0;
    snprintf(path, sizeof path, "/proc/%d/task", pids[i]);
    DIR *threads = opendir(path);
    for (struct dirent *thread; threads && (thread = readdir(threads));) {
      if (thread->d_name[0] == '.') continue;
      snprintf(path, sizeof path, "/proc/%d/task/%.20s/schedstat", pids[i], thread->d_name);
      FILE *file = fopen(path, "r");
      unsigned long long ran;
      if (file && fscanf(file, "%llu", &ran) == 1) exact += ran;
      if (file) fclose(file);
    }
    if (threads) closedir(threads);
    if (exact == 0) {
      snprintf(path, sizeof path, "/proc/%d/stat", pids[i]);
      FILE *file = fopen(path, "r");
      char line[1024];
      unsigned long user, system;
      const char *rest = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
      if (rest && sscanf(rest + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) == 2) {
        exact = (uint64_t)(user + system) * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
      }
      if (file) fclose(file);
    }
    total += exact;
  }
  return total;
}

static long resident_kb(void) {
  long total = 0;
  for (int i = 0; i < pid_count; i++) {
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/status", pids[i]);
    FILE *file = fopen(path, "r");
    long kb;
    while (file && fgets(line, sizeof line, file)) {
      if (sscanf(line, "VmRSS: %ld", &kb) == 1) total += kb;
    }
    if (file) fclose(file);
  }
  return total;
}

static void fault(const char *what, int detail) {
  errors++;
  if (first_error[0] == 0) snprintf(first_error, sizeof first_error, "%s (%d)", what, detail);
}

// ---- connections

static void watch(Connection *connection, int operation, uint32_t events) {
  struct epoll_event event = {.events = events, .data.u32 = (uint32_t)(connection - connections)};
  epoll_ctl(poll_fd, operation, connection->fd, &event);
}

static void open_connection(Connection *connection) {
  int on = 1;
  connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  connection->connected = 0;
  if (connect(connection->fd, (struct sockaddr *)&address, sizeof address) && errno != EINPROGRESS) {
    perror("connect");
    exit(1);
  }
  watch(connection, EPOLL_CTL_ADD, EPOLLIN | EPOLLOUT);
}

static void send_request(Connection *connection) {
  while (connection->connected && connection->unsent > 0) {
    ssize_t taken = write(connection->fd, request + request_length - connection->unsent, connection->unsent);
    if (taken <= 0) {
      // Anything but a full buffer shows itself at the next read.
      watch(connection, EPOLL_CTL_MOD, errno == EAGAIN ? EPOLLIN | EPOLLOUT : EPOLLIN);
      return;
    }
    connection->unsent -= (size_t)taken;
    if (connection->unsent == 0) watch(connection, EPOLL_CTL_MOD, EPOLLIN);
  }
}

static void begin(Connection *connection) {
  if (begun == most_requests) return;
  begun++;
  connection->busy = 1;
  connection->reading = READ_HEAD;
  connection->head_length = connection->trailer_length = 0;
  connection->stamp_digits = connection->stamps = 0;
  connection->unsent = request_length;
  connection->sent_at = now_ns();
  send_request(connection);
}

static void over(Connection *connection) {
  uint64_t now = now_ns();
  connection->busy = 0;
  if (connection->stamps > 0) streaming_now--;
  if (connection->status != 200) fault("status", connection->status);
  else if (connection->stamps != wanted_stamps) fault("chunks in an answer", connection->stamps);
  else if (measuring) {
    done++;
    add(&latencies, now - connection->sent_at);
  }
  if (now < end_at && pace_ns == 0) begin(connection);
}

// Sends what is due, and returns the nanoseconds until something will be.
static uint64_t begin_due(int started) {
  uint64_t now = now_ns(), soonest = 10000000u;
  for (Connection *each = connections; pace_ns > 0 && each < connections + started; each++) {
    if (now >= each->due_at) {
      if (!each->busy) begin(each);
      while (now >= each->due_at) each->due_at += pace_ns;
    }
    if (each->due_at - now < soonest) soonest = each->due_at - now;
  }
  return soonest;
}

static void lost(Connection *connection) {
  close(connection->fd);
  int busy = connection->busy;
  if (busy && connection->stamps > 0) streaming_now--;
  if (busy) fault("connection lost, bytes read", (int)connection->head_length);
  open_connection(connection);
  if (busy) begin(connection);
}

static void stamp_read(Connection *connection) {
  // Some protocols repeat the whole text at the end of a stream.
  if (texts_repeat && connection->stamps == wanted_stamps) return;
  uint64_t age = now_ns() - connection->stamp;
  if (connection->stamps++ == 0) {
    if (++streaming_now > streaming_peak) streaming_peak = streaming_now;
    // Of all streams, also those that began before the window: with long ones there are few others.
    add(&first_delays, age);
  }
  if (!measuring) return;
  chunks++;
  add(&delays, age);
}

static void payload(Connection *connection, const char *bytes, size_t length) {
  const char *end = bytes + length;
  while (bytes < end) {
    if (connection->stamp_digits == 0) {
      bytes = wanted_stamps > 0 ? memchr(bytes, '@', (size_t)(end - bytes)) : NULL;
      if (!bytes) return;
      bytes++;
      connection->stamp = 0;
      connection->stamp_digits = 1;
      continue;
    }
    char digit = *bytes++;
    connection->stamp = connection->stamp * 16 + (uint64_t)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
    if (++connection->stamp_digits < 17) continue;
    connection->stamp_digits = 0;
    stamp_read(connection);
  }
}

static int hex(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  digit |= 32;
  return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

static void read_head(Connection *connection) {
  char *head = connection->head;
  head[connection->head_length] = 0;
  connection->status = atoi(head + 9);
  const char *length = strcasestr(head, "\ncontent-length:");
  connection->left = length ? strtoul(length + 16, NULL, 10) : 0;
  connection->reading = length ? READ_LENGTH : READ_SIZE;
}

// Takes bytes of an answer. True when they complete it.
static int take(Connection *connection, const char *bytes, size_t length) {
  size_t at = 0;
  for (;;) {
    if (connection->reading == READ_LENGTH && connection->left == 0) return 1;
    if (at >= length) return 0;
    switch (connection->reading) {
      case READ_HEAD:
        if (connection->head_length >= HEAD_SIZE - 1) exit(4);
        connection->head[connection->head_length++] = bytes[at++];
        if (connection->head_length >= 4 && !memcmp(connection->head + connection->head_length - 4, "\r\n\r\n", 4)) read_head(connection);
        break;
      case READ_LENGTH:
      case READ_CHUNK: {
        size_t size = length - at < connection->left ? length - at : connection->left;
        payload(connection, bytes + at, size);
        at += size;
        connection->left -= size;
        if (connection->reading == READ_CHUNK && connection->left == 0) connection->reading = READ_CHUNK_END;
        break;
      }
      case READ_CHUNK_END:
        if (bytes[at++] == '\n') connection->reading = READ_SIZE;
        break;
      case READ_SIZE: {
        char byte = bytes[at++];
        if (byte == '\n') connection->reading = connection->left > 0 ? READ_CHUNK : READ_TRAILER;
        else if (hex(byte) >= 0) connection->left = connection->left * 16 + (size_t)hex(byte);
        break;
      }
      case READ_TRAILER:
        if (bytes[at] == '\n' && connection->trailer_length == 0) return 1;
        if (bytes[at] == '\n') connection->trailer_length = 0;
        else if (bytes[at] != '\r') connection->trailer_length++;
        at++;
        break;
    }
  }
}

static void on_event(Connection *connection, uint32_t events) {
  static char buffer[1 << 18];
  if (events & EPOLLOUT) {
    connection->connected = 1;
    if (connection->busy && connection->unsent > 0) send_request(connection);
    else watch(connection, EPOLL_CTL_MOD, EPOLLIN);
  }
  if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR))) return;
  ssize_t length = read(connection->fd, buffer, sizeof buffer);
  if (length < 0 && errno == EAGAIN) return;
  if (length <= 0) return lost(connection);
  if (connection->busy && take(connection, buffer, (size_t)length)) over(connection);
}

// ---- the run

static char *read_file(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    perror(path);
    exit(2);
  }
  fseek(file, 0, SEEK_END);
  *length = (size_t)ftell(file);
  rewind(file);
  char *bytes = malloc(*length + 1);
  if (fread(bytes, 1, *length, file) != *length) exit(2);
  fclose(file);
  return bytes;
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
  const struct option options[] = {{"port", 1, 0, 'p'}, {"body", 1, 0, 'b'}, {"path", 1, 0, 'u'}, {"connections", 1, 0, 'c'}, {"warm", 1, 0, 'w'}, {"seconds", 1, 0, 's'}, {"ramp", 1, 0, 'r'}, {"stamps", 1, 0, 'e'}, {"repeat", 1, 0, 'R'}, {"requests", 1, 0, 'n'}, {"rate", 1, 0, 'f'}, {"header", 1, 0, 'h'}, {"pid", 1, 0, 'P'}, {0, 0, 0, 0}};
  const char *body_path = NULL, *path = "/v1/chat/completions";
  double warm = 1, seconds = 2, ramp = 0;
  int port = 0;
  char headers[4096] = "";
  for (int option; (option = getopt_long(count, arguments, "", options, NULL)) != -1;) {
    switch (option) {
      case 'p': port = atoi(optarg); break;
      case 'b': body_path = optarg; break;
      case 'u': path = optarg; break;
      case 'c': connection_count = atoi(optarg); break;
      case 'w': warm = atof(optarg); break;
      case 's': seconds = atof(optarg); break;
      case 'r': ramp = atof(optarg); break;
      case 'e': wanted_stamps = atoi(optarg); break;
      case 'R': texts_repeat = atoi(optarg); break;
      case 'n': most_requests = strtoull(optarg, NULL, 10); break;
      case 'f': pace_ns = (uint64_t)(1e9 / atof(optarg)); break;
      case 'h': snprintf(headers + strlen(headers), sizeof headers - strlen(headers), "%s\r\n", optarg); break;
      case 'P': if (pid_count < MOST_PIDS) pids[pid_count++] = atoi(optarg); break;
      default: return 2;
    }
  }
  if (!body_path || port == 0 || connection_count < 1) return 2;
  size_t body_length;
  char *body = read_file(body_path, &body_length);
  request = malloc(body_length + 8192);
  request_length = (size_t)sprintf(request, "POST %s HTTP/1.1\r\nhost: 127.0.0.1:%d\r\ncontent-type: application/json\r\naccept: */*\r\n%scontent-length: %zu\r\n\r\n", path, port, headers, body_length);
  memcpy(request + request_length, body, body_length);
  request_length += body_length;

  address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  poll_fd = epoll_create1(0);
  connections = calloc((size_t)connection_count, sizeof *connections);
  for (int i = 0; i < connection_count; i++) open_connection(&connections[i]);

  uint64_t start_at = now_ns(), measure_at = start_at + (uint64_t)(warm * 1e9), measured_at = 0, cpu_before = 0, look_at = 0;
  end_at = measure_at + (uint64_t)(seconds * 1e9);
  long largest_kb = 0;
  for (int started = 0;;) {
    uint64_t now = now_ns();
    while (started < connection_count && now >= start_at + (uint64_t)(ramp * 1e9 * started / connection_count)) {
      connections[started].due_at = now + pace_ns;
      begin(&connections[started++]);
    }
    if (!measuring && now >= measure_at) {
      measuring = 1;
      cpu_before = cpu_ns();
      measured_at = now;
    }
    if (measuring && now >= look_at) {
      long kb = resident_kb();
      if (kb > largest_kb) largest_kb = kb;
      look_at = now + 200000000u;
    }
    if (now >= end_at || done + errors >= most_requests) break;
    struct epoll_event events[256];
    uint64_t patience = begin_due(started);
    if (started < connection_count && patience > 1000000u) patience = 1000000u;
    struct timespec timeout = {.tv_sec = 0, .tv_nsec = (long)patience};
    int ready = epoll_pwait2(poll_fd, events, 256, &timeout, NULL);
    for (int i = 0; i < ready; i++) on_event(&connections[events[i].data.u32], events[i].events);
  }
  uint64_t cpu = cpu_ns() - cpu_before;
  double elapsed = (double)(now_ns() - measured_at) / 1e9;
  printf("{\"seconds\":%.3f,\"requests\":%lu,\"chunks\":%lu,\"errors\":%lu,\"firstError\":\"%s\",\"cpuUs\":%.1f,\"residentKb\":%ld,\"streamsAtOnce\":%d", elapsed, (unsigned long)done, (unsigned long)chunks, (unsigned long)errors, first_error, (double)cpu / 1000, largest_kb, streaming_peak);
  print_samples("latency", &latencies);
  print_samples("firstDelay", &first_delays);
  print_samples("delay", &delays);
  printf("}\n");
  return 0;
}
