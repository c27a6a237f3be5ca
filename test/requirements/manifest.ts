// The requirements manifest: every behaviour that the gateway owes, once, with its source and the tests that show it.
// A requirement that is not here yet says which issue brings it. Its parts are in test/requirements/.
import { answerRequirements } from './answers.ts';
import { asGivenRequirements } from './as-given.ts';
import { boundsRequirements } from './bounds.ts';
import { conversationRequirements } from './conversations.ts';
import { consoleRequirements } from './console.ts';
import { decisionRequirements } from './decisions.ts';
import { durableRequirements } from './durable.ts';
import { geminiRequirements } from './gemini.ts';
import { hardeningRequirements } from './hardening.ts';
import { limitsRequirements } from './limits.ts';
import { localServerRequirements } from './local-servers.ts';
import { managementRequirements } from './management.ts';
import { networkRequirements } from './network.ts';
import { hostileUpstreamRequirements } from './hostile-upstreams.ts';
import { meaningRequirements } from './meaning.ts';
import { observingRequirements } from './observing.ts';
import { painRequirements } from './pains.ts';
import { requestRequirements } from './request.ts';
import { responsesAnswerRequirements } from './responses-answer.ts';
import { responsesRequestRequirements } from './responses-request.ts';
import { shapeRequirements } from './shapes.ts';
import { startingRequirements } from './starting.ts';
import { streamRequirements } from './streams.ts';
import { tenantsRequirements } from './tenants.ts';
import { routingRequirements } from './routing.ts';
import type { Requirements } from './requirement.ts';

export const PARTS: readonly Requirements[] = [
  routingRequirements,
  requestRequirements,
  answerRequirements,
  asGivenRequirements,
  decisionRequirements,
  painRequirements,
  hardeningRequirements,
  boundsRequirements,
  limitsRequirements,
  localServerRequirements,
  consoleRequirements,
  durableRequirements,
  managementRequirements,
  observingRequirements,
  responsesRequestRequirements,
  responsesAnswerRequirements,
  hostileUpstreamRequirements,
  networkRequirements,
  meaningRequirements,
  geminiRequirements,
  shapeRequirements,
  startingRequirements,
  streamRequirements,
  tenantsRequirements,
  conversationRequirements,
];

/** By id: `2.29` (section and item), `C-18` (contradiction), `contract.errors`, `pain.B18`. */
export const REQUIREMENTS: Requirements = Object.assign({}, ...PARTS) as Requirements;

/** How many items each section of the requirements has. */
export const SECTIONS: Readonly<Record<string, number>> = {
  '1': 9,
  '2': 38,
  '3': 26,
  '4': 12,
  '5': 11,
  '6': 19,
  '7': 6,
  '8': 7,
  '9': 21,
  '10': 17,
  '11': 5,
  '12': 26,
  '13': 29,
  '14': 10,
  '15': 8,
  '16': 12,
  '17': 3,
  '18': 10,
  '19': 16,
  '20': 45,
  '21': 12,
};

/** Contradictions in the seeds, and how each is resolved. */
export const CONTRADICTIONS: readonly number[] = range(1, 29);
/** Black-box checks. */
export const CHECKS: readonly number[] = range(1, 24);
/** Groups of the list of pains, with their first and last number. */
export const PAINS: Readonly<Record<string, readonly [number, number]>> = {
  A: [1, 17],
  B: [18, 26],
  C: [27, 33],
  D: [34, 43],
  G: [56, 57],
};

/** Whole numbers from the first to the last. */
export function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
