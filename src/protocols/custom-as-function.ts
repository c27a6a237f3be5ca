// A custom (free-form) tool as the function that stands for it at upstreams without custom tools. The engine's
// restorer takes the one argument `input` off again. Knows no protocol's envelope.
import type { JsonObject } from '../base/json/index.ts';
import type { CustomTool } from '../canonical/index.ts';
import { asString } from '../base/json/index.ts';

export interface StandInFunction {
  /** The tool's own words and its grammar; undefined when there are none. */
  readonly description: string | undefined;
  /** JSON Schema of the one argument. */
  readonly parameters: JsonObject;
}

const PARAMETERS: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The free-form input of the tool.' } },
  required: ['input'],
  additionalProperties: false,
};

/** The function for a tool: the grammar, which nobody enforces, is told in the description. */
export function standInFor(tool: CustomTool): StandInFunction {
  const grammar = asString(tool.format?.['definition']);
  const syntax = asString(tool.format?.['syntax']) ?? 'given';
  const rule = grammar === undefined ? '' : `The input must match this ${syntax} grammar:\n${grammar}`;
  return {
    description: [tool.description, rule].filter(Boolean).join('\n\n') || undefined,
    parameters: PARAMETERS,
  };
}
