// The `streams`, `background` and `jobs` sections of the configuration file, for work that outlives a client's
// connection.
import { inProgram, orNull } from '../../../catalog/schema/index.ts';
import { z } from 'zod';
import { projectNameSchema } from '../../../accounts/schema/index.ts';
import { ON_DISCONNECT, ON_DISCONNECT_HINT } from '../../../canonical/index.ts';

export const onDisconnectSchema = z.string().regex(ON_DISCONNECT, ON_DISCONNECT_HINT);

export const streamsSchema = inProgram(
  z.strictObject({
    keep: z
      .enum(['asked', 'all'])
      .default('asked')
      .describe(
        'Streams that a client can resume. `all`: every one. `asked`: those of stored or background answers, and of requests with `x-dragoman-resumable: true`.',
      ),
    keep_s: z
      .number()
      .min(0)
      .max(86_400)
      .default(300)
      .describe('Seconds that a stream is kept from its end.'),
    max_mb: z
      .number()
      .min(0)
      .default(64)
      .describe('MB of memory for all kept streams of a process; those that have ended go first.'),
    on_disconnect: onDisconnectSchema
      .default('abort')
      .describe(
        'What becomes of an answer whose client has left: `abort`, `continue` to its end, or e.g. `continue:30s` for a client to come back. A key and the header `x-dragoman-on-disconnect` count before it.',
      ),
  }),
)
  .prefault({})
  .describe('Streams that a client can resume.');

export const backgroundSchema = inProgram(
  z.strictObject({
    temporary: z
      .boolean()
      .default(false)
      .describe('Allow `background` with `store: false`: such an answer is kept for ten minutes.'),
  }),
)
  .prefault({})
  .describe('Answers in the background.');

export const jobsSchema = inProgram(
  z.strictObject({
    concurrent: z.int().min(0).default(100).describe('Jobs that one process runs at once. 0: it runs none.'),
    concurrent_per_project: z
      .int()
      .min(1)
      .default(50)
      .describe('Jobs of one project that run at once, over all processes.'),
    max_open: z
      .int()
      .min(1)
      .default(10_000)
      .describe('Jobs of one project that have not ended; beyond it 429.'),
    total_s: z
      .number()
      .min(1)
      .default(3600)
      .describe(
        'Seconds that an answer in the background may take, where `routing.timeouts.total_ms` is less.',
      ),
    max_wait_s: z
      .number()
      .min(0)
      .default(86_400)
      .describe('Seconds that a job waits for limits and budgets to have room, before it fails.'),
    weights: z
      .record(projectNameSchema, z.number().positive().max(1_000))
      .default({})
      .describe(
        'Shares of projects among those that wait, by name. Default: 1. A project with 2 begins twice as many jobs and lines of batches.',
      ),
    keep_days: orNull(z.number().positive()).describe(
      'Days that a job, its events and its result are kept from its end. Default: `state.retention_days` from its beginning, which is the most.',
    ),
  }),
)
  .prefault({})
  .describe('The queue of work that outlives connections.');

export const batchesSchema = inProgram(
  z.strictObject({
    concurrent: z
      .int()
      .min(1)
      .max(10_000)
      .default(20)
      .describe('Lines of batches that one process runs at once; projects take turns.'),
    max_lines: z
      .int()
      .min(1)
      .max(1_000_000)
      .default(50_000)
      .describe("Most lines of a file of OpenAI's batches."),
    max_requests: z
      .int()
      .min(1)
      .max(1_000_000)
      .default(100_000)
      .describe("Most requests of one of Anthropic's or Gemini's batches."),
    max_mb: z
      .number()
      .positive()
      .max(4096)
      .default(200)
      .describe('Largest file with `purpose: batch` in MB (1 MB = 1,048,576 bytes).'),
    max_request_mb: z
      .number()
      .positive()
      .max(4096)
      .default(256)
      .describe("Largest body that makes one of Anthropic's or Gemini's batches, in MB."),
    max_delay_ms: z
      .number()
      .min(0)
      .default(20)
      .describe(
        'Lateness of the event loop, in milliseconds, from which no line begins (99th percentile of 10 s). 0: lines always begin.',
      ),
    provider_share: z
      .number()
      .gt(0)
      .max(1)
      .default(0.8)
      .describe('Lines begin only while less than this share of a limit of their provider is used.'),
    on_budget: z
      .enum(['wait', 'end'])
      .default('wait')
      .describe(
        'What becomes of a batch whose budget is spent: it waits for room (`wait`), or ends with the lines that are finished (`end`).',
      ),
    vendor_poll_s: z
      .number()
      .min(0.05)
      .max(3600)
      .default(60)
      .describe("Seconds between two looks at a vendor's batch (`batch: vendor` of a provider or endpoint)."),
    vendor_max_lines: z
      .int()
      .min(1)
      .max(50_000)
      .default(10_000)
      .describe("Most lines of one vendor's batch; at most 32 MB, too."),
    vendor_retry: z
      .boolean()
      .default(false)
      .describe(
        "Lines that fail or expire in a vendor's batch are asked once more, as any other request and at the ordinary price.",
      ),
  }),
)
  .prefault({})
  .describe('Batches: many requests in one file.');
