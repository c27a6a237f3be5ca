// Short names for the lanes and loads that developers compare between source trees and profile.
import type { Load } from './measure.ts';
import { SCENARIOS } from './scenarios.ts';
import type { TargetName } from './targets.ts';

export interface Case {
  readonly name: string;
  readonly target: TargetName;
  readonly load: Load;
}

/** The default case. */
export const RELAY: Case = { name: 'relay', target: 'relay', load: loadOf('requests-2kb') };

const CASES: readonly Case[] = [
  RELAY,
  { name: 'translate', target: 'translate', load: loadOf('requests-2kb') },
  { name: 'messages', target: 'messages', load: loadOf('requests-2kb') },
  { name: 'responses', target: 'responses-chat', load: loadOf('responses-2kb') },
  { name: 'responses-stored', target: 'responses-chat-stored', load: loadOf('responses-2kb') },
  { name: 'relay-100kb', target: 'relay', load: loadOf('requests-100kb') },
  { name: 'translate-100kb', target: 'translate', load: loadOf('requests-100kb') },
  { name: 'relay-agent', target: 'relay', load: loadOf('agent-40kb') },
  { name: 'translate-agent', target: 'translate', load: loadOf('agent-40kb') },
  { name: 'chunks-relay', target: 'relay', load: loadOf('chunks') },
  { name: 'chunks-translate', target: 'translate', load: loadOf('chunks') },
];

/** Parses a comma-separated list of cases. @throws Error for an unknown one */
export function findCases(names: string): Case[] {
  return names.split(',').map((name) => {
    const found = CASES.find((each) => each.name === name);
    if (!found)
      throw new Error(`unknown case ${name}; known cases are ${CASES.map((each) => each.name).join(', ')}`);
    return found;
  });
}

function loadOf(scenario: string): Load {
  const found = SCENARIOS.find(({ name }) => name === scenario);
  if (!found) throw new Error(`unknown scenario ${scenario}`);
  return found;
}
