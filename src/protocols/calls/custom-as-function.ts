// Custom (free-form) tools as functions, for upstreams without custom tools. The engine's restorer unwraps the single
// argument `input` in the answer.
import type { JsonObject } from '../../base/json/index.ts';
import type { CustomTool } from '../../canonical/index.ts';
import { asString } from '../../base/json/index.ts';

export interface SubstituteFunction {
  /** The tool's description and grammar; undefined if it has neither. */
  readonly description: string | undefined;
  /** JSON Schema of the single argument. */
  readonly parameters: JsonObject;
}

const PARAMETERS: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The free-form input of the tool.' } },
  required: ['input'],
  additionalProperties: false,
};

/** Returns the function for a tool. Its description states the grammar, because the upstream cannot enforce it. */
export function functionFor(tool: CustomTool): SubstituteFunction {
  const grammar = asString(tool.format?.['definition']);
  const syntax = asString(tool.format?.['syntax']) ?? 'given';
  const rule = grammar === undefined ? '' : `The input must match this ${syntax} grammar:\n${grammar}`;
  return {
    description: [tool.description, rule].filter(Boolean).join('\n\n') || undefined,
    parameters: PARAMETERS,
  };
}
