// The Lua script of all shared state. It is sent to servers that do not know this version.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PREFIX, scriptOf, type ServerLink } from './server.ts';
import type { DurationMs } from '../../base/units.ts';

const SHARED = scriptOf(readFileSync(join(import.meta.dirname, 'shared.lua'), 'utf8'));

/** Runs an operation of `shared.lua`. Rejects as `ServerLink.run`. @param leaseMs lease of a process in milliseconds */
export function runShared(
  server: Pick<ServerLink, 'run'>,
  operation: string,
  leaseMs: DurationMs,
  words: readonly string[],
): Promise<unknown> {
  return server.run(SHARED, [PREFIX], [operation, String(leaseMs), ...words]);
}
