// Schema of configured quirks: the flags of `catalog/providers/provider.ts` in the file's spelling.
import { z } from 'zod';
import type { Quirks } from '../../canonical/index.ts';

type QuirkValue = z.ZodEnum | z.ZodBoolean;

/** One entry per flag. The type requires all of them. */
const QUIRKS: { readonly [K in keyof Quirks]: QuirkValue } = {
  maxTokensField: z
    .enum(['max_completion_tokens', 'max_tokens', 'as_written'])
    .describe(
      'Name of the output limit. `as_written`: the name in the request, and `max_tokens` from other protocols; the default without a preset.',
    ),
  smallLimits: z
    .boolean()
    .describe('Responses: output limits below 16 tokens are accepted; the default without a preset.'),
  namesCutAnswers: z
    .boolean()
    .describe(
      'Responses: `false` if the server reports `completed` for responses that its output limit cut off. They are then recognised by their token count.',
    ),
  systemRole: z.enum(['system', 'developer', 'keep']).describe('Role that carries instructions.'),
  laterInstructions: z
    .boolean()
    .describe(
      'Messages: instructions are accepted inside the conversation, as messages of the role `system`.',
    ),
  mergeSystem: z.boolean().describe('Only one system message is accepted, as the first message.'),
  reasoningField: z
    .enum(['reasoning_effort', 'reasoning', 'thinking', 'enable_thinking', 'chat_template_kwargs', 'none'])
    .describe('Field that controls reasoning.'),
  reasoningReplay: z
    .enum(['reasoning_content', 'reasoning', 'reasoning_details', 'thinking_parts', 'none'])
    .describe('Field in which earlier reasoning is sent back.'),
  streamUsage: z.enum(['include_usage', 'always']).describe('Token counts of a stream must be requested.'),
  structuredOutput: z
    .enum(['json_schema', 'json_object', 'none'])
    .describe('Most precise response format that the server enforces.'),
  strictTools: z.boolean().describe('`strict` on function tools is supported.'),
  customTools: z
    .boolean()
    .describe(
      'Custom (free-form) tools are supported. Without a preset: only if the server is declared `faithful`.',
    ),
  messageName: z.boolean().describe('`name` on messages is accepted.'),
  textContent: z.enum(['parts', 'string']).describe('Form of text content.'),
  requiredToolChoice: z.enum(['required', 'any']).describe('Value that forces a tool call.'),
  namedToolChoice: z.boolean().describe('A named tool can be forced.'),
  toolCallId: z.enum(['any', 'alphanumeric-9']).describe('Form of call ids.'),
  cacheControl: z
    .boolean()
    .describe('Prompt-cache breakpoints are supported (Chat Completions: `cache_control`).'),
  vectors: z
    .enum(['float', 'base64_int8', 'output_dtype'])
    .describe('Vectors: supported names of element formats.'),
  unknownFields: z
    .enum(['pass', 'drop'])
    .describe('What to do with fields that the protocol does not define.'),
  adjacentRoles: z.enum(['keep', 'merge']).describe('Adjacent messages of the same role must be joined.'),
  exclusiveReasoning: z
    .boolean()
    .describe('Reasoning excludes sampling parameters, forced tools and prefills.'),
  forcedThinking: z
    .boolean()
    .describe(
      'With `exclusive_reasoning`: models that choose their own amount of reasoning can be forced to call a tool.',
    ),
  pairedSampling: z
    .boolean()
    .describe('Messages and Converse: `temperature` and `top_p` are accepted together.'),
  assistantFirst: z
    .boolean()
    .describe('Messages and Converse: a conversation can begin with an assistant message.'),
  fetchesUrls: z
    .boolean()
    .describe(
      'The server fetches URLs of images and files, if its protocol supports that. Self-hosted servers: only if you set this.',
    ),
  readsFiles: z.boolean().describe('The server reads files. Otherwise, PDF and text files are sent as text.'),
  prefill: z
    .enum(['none', 'plain', 'prefix', 'partial', 'continue_final_message'])
    .describe('How the model is asked to continue a final assistant message.'),
  searchesWeb: z.boolean().describe('The server runs web searches itself.'),
  runsMcp: z
    .boolean()
    .describe(
      'The server itself calls the MCP servers of requests. Self-hosted servers: only if you set this.',
    ),
};

const shape: Record<string, z.ZodOptional<QuirkValue>> = {};
const names = new Map<string, keyof Quirks>();
for (const name of Object.keys(QUIRKS) as (keyof Quirks)[]) {
  const inFile = inFileName(name);
  names.set(inFile, name);
  shape[inFile] = QUIRKS[name].optional();
}

export const quirksSchema = z
  .strictObject(shape)
  .transform(toQuirks)
  .describe('How the server differs from the protocol; overrides the preset.');

/** Converts validated quirks from the file's spelling. */
function toQuirks(given: Readonly<Record<string, unknown>>): Partial<Quirks> {
  const quirks: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    const known = names.get(name);
    if (known && value !== undefined) quirks[known] = value;
  }
  return quirks as Partial<Quirks>;
}

/** Quirks in the file's spelling, as `parseQuirks` reads them. */
export function formatQuirks(quirks: Partial<Quirks>): Record<string, string | boolean> {
  return Object.fromEntries(Object.entries(quirks).map(([name, value]) => [inFileName(name), value]));
}

/** Parses quirks in the file's spelling; null for invalid values. */
export function parseQuirks(value: unknown): Partial<Quirks> | null {
  const parsed = quirksSchema.safeParse(value);
  return parsed.success ? parsed.data : null;
}

function inFileName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
