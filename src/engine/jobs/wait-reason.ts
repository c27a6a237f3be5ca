// Compares the reasons for which a job waits.
import type { JobView } from '../../accounts/ports/index.ts';

const NUMBERS = /\d+/g;

/**
 * True if a job did not wait for this reason before, so that its waiting time starts again. Reasons contain measured values
 * and counts, which change while the reason stays. They are not compared.
 */
export function isNewReason({ waits }: Pick<JobView, 'waits'>, reason: string): boolean {
  return waits === null || kindOf(waits.reason) !== kindOf(reason);
}

function kindOf(reason: string): string {
  return reason.replaceAll(NUMBERS, '0');
}
