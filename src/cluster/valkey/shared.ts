// The one script of all that processes share through a server: a server that does not know this version of it is given it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PREFIX, scriptOf, type ServerLink } from './server.ts';
import type { DurationMs } from '../../base/units.ts';

const SHARED = scriptOf(readFileSync(join(import.meta.dirname, 'shared.lua'), 'utf8'));

/** Runs an operation of `shared.lua`. Rejects like `ServerLink.run`. @param leaseMs how long what it gives holds */
export function runShared(
  server: Pick<ServerLink, 'run'>,
  operation: string,
  leaseMs: DurationMs,
  words: readonly string[],
): Promise<unknown> {
  return server.run(SHARED, [PREFIX], [operation, String(leaseMs), ...words]);
}
