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
        'Which streams a client can resume. `all`: every stream. `asked`: streams of stored and background responses, and of requests with `x-dragoman-resumable: true`.',
      ),
    keep_s: z
      .number()
      .min(0)
      .max(86_400)
      .default(300)
      .describe('Seconds for which a stream is kept after its end.'),
    max_mb: z
      .number()
      .min(0)
      .default(64)
      .describe('MB of memory for all kept streams of a process. Finished streams are evicted first.'),
    on_disconnect: onDisconnectSchema
      .default('abort')
      .describe(
        'What happens to a response when its client disconnects: `abort`, `continue` to its end, or e.g. `continue:30s` to wait for the client. Keys and the header `x-dragoman-on-disconnect` override it.',
      ),
  }),
)
  .prefault({})
  .describe('Resumable streams.');

export const backgroundSchema = inProgram(
  z.strictObject({
    temporary: z
      .boolean()
      .default(false)
      .describe('Allow `background` with `store: false`: such a response is kept for ten minutes.'),
  }),
)
  .prefault({})
  .describe('Background responses.');

export const jobsSchema = inProgram(
  z.strictObject({
    concurrent: z
      .int()
      .min(0)
      .default(100)
      .describe('Maximum concurrent jobs of a process. 0: it runs none.'),
    concurrent_per_project: z
      .int()
      .min(1)
      .default(50)
      .describe('Maximum concurrent jobs of a project, over all processes.'),
    max_open: z
      .int()
      .min(1)
      .default(10_000)
      .describe('Maximum unfinished jobs of a project. Further ones are refused with 429.'),
    total_s: z
      .number()
      .min(1)
      .default(3600)
      .describe(
        'Timeout of a background response in seconds, if it is longer than `routing.timeouts.total_ms`.',
      ),
    max_wait_s: z
      .number()
      .min(0)
      .default(86_400)
      .describe('Seconds that a job waits for limits and budgets before it fails.'),
    weights: z
      .record(projectNameSchema, z.number().positive().max(1_000))
      .default({})
      .describe(
        'Weights of projects in the queue, by name. Default: 1. A project with 2 starts twice as many jobs and batch lines.',
      ),
    keep_days: orNull(z.number().positive()).describe(
      'Days for which a job, its events and its result are kept after its end. Default and maximum: `state.retention_days` from its start.',
    ),
  }),
)
  .prefault({})
  .describe('Queue of work that outlives connections.');

export const batchesSchema = inProgram(
  z.strictObject({
    concurrent: z
      .int()
      .min(1)
      .max(10_000)
      .default(20)
      .describe('Maximum concurrent batch lines of a process. Projects take turns.'),
    max_lines: z
      .int()
      .min(1)
      .max(1_000_000)
      .default(50_000)
      .describe('Maximum lines of an OpenAI batch file.'),
    max_requests: z
      .int()
      .min(1)
      .max(1_000_000)
      .default(100_000)
      .describe('Maximum requests of an Anthropic or Gemini batch.'),
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
      .describe('Largest body that creates an Anthropic or Gemini batch, in MB.'),
    max_delay_ms: z
      .number()
      .min(0)
      .default(20)
      .describe(
        'Event loop delay in milliseconds (99th percentile of 10 s) from which no batch line starts while other requests run. 0: no limit.',
      ),
    provider_share: z
      .number()
      .gt(0)
      .max(1)
      .default(0.8)
      .describe("Batch lines start only while less than this share of their provider's limits is used."),
    on_budget: z
      .enum(['wait', 'end'])
      .default('wait')
      .describe(
        'Batches whose budget is spent: `wait` until the budget allows more, or `end` with the finished lines.',
      ),
    vendor_poll_s: z
      .number()
      .min(0.05)
      .max(3600)
      .default(60)
      .describe("Seconds between polls of a vendor's batch (`batch: vendor` of a provider or endpoint)."),
    vendor_max_lines: z
      .int()
      .min(1)
      .max(50_000)
      .default(10_000)
      .describe('Maximum lines of one vendor batch, which is also limited to 32 MB.'),
    vendor_retry: z
      .boolean()
      .default(false)
      .describe(
        "Repeat lines that fail or expire in a vendor's batch once, as normal requests at the normal price.",
      ),
  }),
)
  .prefault({})
  .describe('Batches: many requests in one file.');
