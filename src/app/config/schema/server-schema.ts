// The `server` section of the configuration file: listening socket, and resource limits per client and in total.
import { inProgram, orNull, secretOrEmpty } from '../../../catalog/schema/index.ts';
import { z } from 'zod';
import { milliseconds } from './routing-schema.ts';

/** True when the IANA database contains this time zone. */
function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) instanceof Intl.DateTimeFormat;
  } catch {
    return false;
  }
}

export const serverSchema = inProgram(
  z.strictObject({
    host: z.string().min(1).default('127.0.0.1').describe('Address to listen on; `0.0.0.0` for all.'),
    port: z.number().int().min(0).max(65_535).default(4000).describe('Port; 0: any free port.'),
    timezone: z
      .string()
      .default('UTC')
      .refine(isTimeZone, { error: 'is no time zone: use a name such as Europe/Berlin' })
      .describe(
        'IANA time zone of days and months in reports, the console and `dragoman usage`. Budgets have their own `timezone`.',
      ),
    workers: orNull(z.union([z.literal('auto'), z.number().int().min(1).max(256)])).describe(
      'Number of worker processes under a supervisor; `auto`: one per core. Default: a single process.',
    ),
    tls: orNull(
      z.strictObject({
        cert: z.string().min(1).describe('PEM file of the certificate, followed by its intermediates.'),
        key: z.string().min(1).describe('PEM file of its private key, without a passphrase.'),
      }),
    ).describe('Serve HTTPS instead of HTTP, TLS 1.2 or later. The files are watched.'),
    credential_dirs: orNull(z.array(z.string().min(1))).describe(
      'Folders in which a draft for `POST /management/config/check` may name files. Default: the folder of the configuration file, and `/run/secrets`.',
    ),
    body_limit_mb: z
      .number()
      .positive()
      .max(1024)
      .default(32)
      .describe('Largest request body in MB (1 MB = 1,048,576 bytes).'),
    idle_ms: z
      .number()
      .int()
      .min(1000)
      .max(255_000)
      .default(60_000)
      .describe('Milliseconds after which an idle connection is closed, rounded to seconds.'),
    body_grace_ms: milliseconds(30_000).describe(
      'Milliseconds in which a body must arrive, plus one second per 8 kB. After that, 408.',
    ),
    memory: inProgram(
      z.strictObject({
        bodies_mb: orNull(z.number().positive()).describe(
          'Maximum MB that running requests may hold: bodies, messages, fetched and collected data, and buffers of slow readers. Default: a quarter of the memory of the machine or control group.',
        ),
        share_per_key: z
          .number()
          .positive()
          .max(1)
          .default(0.25)
          .describe('Share of it that one key may hold. At least enough for one body.'),
      }),
    )
      .prefault({})
      .describe('Memory limit for requests. Beyond it, 503 with `retry-after`.'),
    overload: inProgram(
      z.strictObject({
        lag_ms: z
          .number()
          .int()
          .min(0)
          .max(60_000)
          .default(2000)
          .describe('Maximum event loop delay in milliseconds. 0: no limit.'),
        memory_percent: z
          .number()
          .min(0)
          .max(100)
          .default(85)
          .describe(
            'Share of the memory of the machine or control group from which large requests are refused. 0: no limit.',
          ),
      }),
    )
      .prefault({})
      .describe(
        'Overload protection: new requests are refused (503 with `retry-after`) until the process has recovered.',
      ),
    websocket: inProgram(
      z.strictObject({
        max_connections_per_key: z
          .number()
          .int()
          .min(0)
          .default(64)
          .describe('Maximum open connections per key. Beyond it, 429.'),
        max_connections: z
          .number()
          .int()
          .min(0)
          .default(1024)
          .describe('Maximum open connections of all keys together. Beyond it, 503.'),
      }),
    )
      .prefault({})
      .describe('WebSockets of `/responses`.'),
    drain_delay_ms: milliseconds(0).describe(
      'Milliseconds after SIGTERM in which requests are still accepted while `/readyz` says `draining`, so that load balancers can react. SIGINT does not wait.',
    ),
    drain_ms: milliseconds(30_000).describe('Milliseconds that running responses may take after that.'),
    admin_key: orNull(secretOrEmpty()).describe('Key for the management API, of at least 16 characters.'),
  }),
)
  .prefault({})
  .describe('The listening socket.');
