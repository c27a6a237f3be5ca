// Ends the lines of a vendor's batch in file order. Answers are read as if they came from their endpoints.
import { GatewayError } from '../../canonical/index.ts';
import { Cancellation } from '../cancellation.ts';
import { inputLines } from './batch-input.ts';
import type { BatchRun } from './batch-run.ts';
import { EndedLines } from './ended-lines.ts';
import type { LineRequest } from './line-request.ts';
import { refusedEnd } from './line-result.ts';
import type { FileLine } from './read-lines.ts';
import { requestOf, tryLine, write } from './run-line.ts';
import { RunningLines } from './running-lines.ts';
import { TimeSlices } from './time-slices.ts';
import { type AnsweredLine, type CollectedResults, readyAnswer } from './vendor/index.ts';

/** Rejects when the file with the lines cannot be read. */
export async function collectLines(of: BatchRun, results: CollectedResults): Promise<void> {
  const { batch, deps } = of;
  const { vendorRetry } = deps.settings();
  const ended = EndedLines.numbers(deps.storage.batches, batch.id);
  const endLine = async (line: FileLine): Promise<void> => {
    const result = await results.take(line.number);
    if (typeof result === 'object') {
      if (result.status < 400 || !vendorRetry) await endAnswered(of, line, result);
      // When the batch is over, its stop reason ends the other lines.
    } else if (!vendorRetry && of.stop?.type !== 'end') await endUnanswered(of, line, result);
  };
  const slices = new TimeSlices();
  const running = new RunningLines(deps.pace);
  await running.during(async () => {
    for await (const line of inputLines(of)) {
      if (slices.isOver) await slices.next();
      if (!results.lines.has(line.number) || (await ended.at(line.number)) !== null) continue;
      if (of.isLost || running.hasFailed || !deps.takes()) break;
      await deps.pace.enter(batch.projectId);
      running.add(endLine(line));
    }
  });
}

async function endAnswered(
  of: BatchRun,
  line: FileLine,
  { endpoint, status, body, ...record }: AnsweredLine,
): Promise<void> {
  const { number } = line;
  const { clock } = of.deps;
  const request = readRequest(of, line);
  if (request instanceof GatewayError) {
    // The configuration changed after the submission.
    const end = refusedEnd(request);
    return write(of, { number, end, spend: null, request: null, refusal: request });
  }
  const answered = { ...readyAnswer(endpoint, status, body, clock), ...record };
  const asked = { number, request, deaths: 0, tries: 1, since: clock.now(), answered };
  const { end, tried } = await tryLine(of, asked, new Cancellation());
  if (!end) throw tried.failure ?? new GatewayError('internal', 'A response of the batch could not be read.');
  return write(of, { number, end, spend: tried.spend, request, refusal: tried.failure });
}

/** Ends a line that its vendor did not answer. */
function endUnanswered(
  of: BatchRun,
  line: FileLine,
  how: 'expired' | 'cancelled' | 'missing',
): Promise<void> {
  const { number } = line;
  const read = readRequest(of, line);
  const request = read instanceof GatewayError ? null : read;
  if (how !== 'missing')
    return write(of, { number, end: { type: how }, spend: null, request, refusal: undefined });
  const message = "The vendor's batch has no result for this line.";
  const refusal = new GatewayError('upstream_unavailable', message, { code: 'no_result' });
  return write(of, { number, end: refusedEnd(refusal), spend: null, request, refusal });
}

function readRequest(of: BatchRun, { bytes }: FileLine): LineRequest | GatewayError {
  try {
    return requestOf(of, bytes);
  } catch (error) {
    return GatewayError.from(error);
  }
}
