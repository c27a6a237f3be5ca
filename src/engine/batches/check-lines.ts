// Checks all lines of a batch before any of them runs. The problem of an invalid line becomes its result.
import { createHash } from 'node:crypto';
import type { JsonObject } from '../../base/json/index.ts';
import { GatewayError } from '../../canonical/index.ts';
import type { Principal } from '../../accounts/auth/index.ts';
import type { BatchProblem } from '../../protocols/index.ts';
import { routeRequest } from '../admit/index.ts';
import { inputLines } from './batch-input.ts';
import type { BatchRun } from './batch-run.ts';
import { encodeEnd, failureOf, refusedEnd } from './line-result.ts';
import {
  lineRequest,
  type LineRequest,
  namedLine,
  namedOf,
  parseLine,
  requireWholeLine,
} from './line-request.ts';
import type { FileLine } from './read-lines.ts';
import { TimeSlices } from './time-slices.ts';

/** Maximum problems shown in the batch; the error file has all. */
const MOST_REPORTED = 100;
/** Maximum characters of ids that are compared directly; longer ones are compared by hash. */
const SHORT_ID = 32;

export interface CheckedLines {
  readonly total: number;
  /** Lines that can be run. */
  readonly usable: number;
  readonly problems: readonly BatchProblem[];
  /** True: the batch has too many lines, and none is run. */
  readonly isTooLong: boolean;
}

/**
 * Resolves when the problems are written. Rejects when the file cannot be read, or another process has taken over the
 * batch.
 */
export async function checkLines(of: BatchRun, principal: Principal): Promise<CheckedLines> {
  const { most } = of.deps.settings();
  const mostLines = most[of.codec.counts];
  const ids = new Set<string>();
  const problems: BatchProblem[] = [];
  let total = 0;
  let wrong = 0;
  const slices = new TimeSlices();
  const writing = new Set<Promise<void>>();
  for await (const line of inputLines(of)) {
    if (of.lines.reason) throw of.lines.reason;
    total += 1;
    if (total > mostLines) {
      const message = `The file has more than ${mostLines} lines (batches.max_${of.codec.counts}). Split it.`;
      const problem = { code: 'too_many_lines', message, param: 'input_file_id', line: null };
      return { total, usable: 0, problems: [problem], isTooLong: true };
    }
    const refusal = refusalOf(of, line, principal, ids);
    if (refusal) {
      wrong += 1;
      const { code, kind, message, param = null } = refusal;
      if (problems.length < MOST_REPORTED)
        problems.push({ code: code ?? kind, message, param, line: line.number });
      const written = writeRefused(of, line, refusal);
      writing.add(written);
      void written.then(
        () => writing.delete(written),
        () => {},
      );
    }
    if (slices.isOver) {
      await Promise.all(writing);
      await slices.next();
    }
  }
  await Promise.all(writing);
  if (total === 0)
    problems.push({
      code: 'empty_file',
      message: 'The file has no lines.',
      param: 'input_file_id',
      line: null,
    });
  return { total, usable: total - wrong, problems, isTooLong: false };
}

async function writeRefused(of: BatchRun, line: FileLine, refusal: GatewayError): Promise<void> {
  const result = await encodeEnd(refusedEnd(refusal), namesOf(of, line));
  const failure = failureOf(refusal, nameOf(of, line), null, null);
  await of.writer.end({ number: line.number, kind: 'failed', result, spend: null, failure });
}

/** Reason why a line cannot be run. */
function refusalOf(
  of: BatchRun,
  { bytes }: FileLine,
  principal: Principal,
  ids: Set<string>,
): GatewayError | undefined {
  try {
    if (!bytes)
      throw new GatewayError(
        'too_large',
        `The line has more than ${of.deps.settings().maxLineBytes} bytes (server.body_limit_mb).`,
      );
    const request = lineRequest(bytes, parseLine(bytes), of.codec, of.facts);
    if (request.id !== null) requireNew(request.id, ids);
    requireWholeLine(request);
    // A template may supply the model.
    if (request.json['prompt'] === undefined || request.json['model'] !== undefined)
      requireRoute(of, request, principal);
    return undefined;
  } catch (thrown) {
    const error = GatewayError.from(thrown);
    // Capacity may be available later.
    const isLater = error.kind === 'rate_limited' || error.kind === 'upstream_unavailable';
    return isLater ? undefined : error;
  }
}

/** Members of a refused line that its result repeats. Null: it cannot be read. */
function namesOf({ codec }: BatchRun, { bytes }: FileLine): JsonObject | null {
  const line = bytes && namedLine(bytes, codec);
  return line && namedOf(line, codec);
}

/** `custom_id` of a refused line. Null: it cannot be read. */
function nameOf({ codec, facts }: BatchRun, { bytes }: FileLine): string | null {
  const line = bytes && namedLine(bytes, codec);
  try {
    return line && codec.line(line, facts).id;
  } catch {
    return null;
  }
}

/** @throws GatewayError with which the request would be refused */
function requireRoute(
  { deps }: BatchRun,
  { protocol, operation, task, json, body }: LineRequest,
  principal: Principal,
): void {
  const { engine, clock } = deps;
  const settings = engine.settings();
  const header = (): null => null;
  const bodyChars = body.bytes.length;
  const asked = { protocol, principal, json, bodyChars, header };
  const { route } = operation;
  const { request, inputChars } = task.explain(route ? { ...asked, route } : asked, settings);
  const { routing: state, limits, tasks } = engine;
  const nowMs = clock.now();
  routeRequest(request, { settings, principal, state, limits, tasks, nowMs, inputChars, peek: true });
}

function requireNew(id: string, ids: Set<string>): void {
  const name = id.length <= SHORT_ID ? id : `#${createHash('sha1').update(id).digest('base64')}`;
  if (ids.has(name))
    throw new GatewayError('invalid_request', 'custom_id: must be unique; another line has the same one', {
      param: 'custom_id',
      code: 'duplicate_custom_id',
    });
  ids.add(name);
}
