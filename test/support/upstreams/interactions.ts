// Interactions as Google writes them (types of `@google/genai` 3.1, 2026-11), for a scripted upstream.
import type { Exchange } from './scripted-upstream.ts';

export const MODEL = 'google/gemini-3-flash-preview';
export const USAGE = {
  total_input_tokens: 7,
  total_output_tokens: 3,
  total_thought_tokens: 2,
  total_tokens: 12,
};
export const INTERACTION = {
  id: 'v1_upstream',
  object: 'interaction',
  model: 'gemini-3-flash-preview',
  status: 'completed',
  created: '2026-11-01T00:00:00Z',
  updated: '2026-11-01T00:00:01Z',
  steps: [
    { type: 'thought', signature: 'c2ln', summary: [{ type: 'text', text: 'Hm.' }] },
    { type: 'model_output', content: [{ type: 'text', text: 'Grüße' }] },
  ],
  usage: USAGE,
};
export const BRIEF = { id: 'v1_upstream', model: 'gemini-3-flash-preview', object: 'interaction' };
export const EVENTS = [
  { event_type: 'interaction.created', interaction: { ...BRIEF, status: 'in_progress' }, event_id: 'e1' },
  { event_type: 'interaction.status_update', interaction_id: 'v1_upstream', status: 'in_progress' },
  { event_type: 'step.start', index: 0, step: { type: 'thought' } },
  { event_type: 'step.delta', index: 0, delta: { type: 'thought_signature', signature: 'c2ln' } },
  { event_type: 'step.stop', index: 0 },
  { event_type: 'step.start', index: 1, step: { type: 'model_output' } },
  { event_type: 'step.delta', index: 1, delta: { type: 'text', text: 'Grü' } },
  { event_type: 'step.delta', index: 1, delta: { type: 'text', text: 'ße' }, event_id: 'e7' },
  { event_type: 'step.stop', index: 1 },
  { event_type: 'interaction.completed', interaction: { ...BRIEF, status: 'completed', usage: USAGE } },
];
export type Event = Readonly<Record<string, unknown>>;

export const asFrames = (events: readonly Event[]): string =>
  events.map((event) => `event: ${event['event_type']}\ndata: ${JSON.stringify(event)}\n\n`).join('');
export const STREAM = `${asFrames(EVENTS)}event: done\ndata: [DONE]\n\n`;

export function answer(json: unknown, status = 200): (exchange: Exchange) => void {
  const body = JSON.stringify(json);
  return (exchange) => {
    exchange.head(status, {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
    });
    exchange.raw(body);
  };
}

/** @param step bytes in each chunk */
export function stream(text: string, step = Infinity): (exchange: Exchange) => void {
  const bytes = Buffer.from(text);
  return (exchange) => {
    exchange.openStream();
    for (let from = 0; from < bytes.length; from += step) exchange.chunk(bytes.subarray(from, from + step));
    exchange.endStream();
  };
}
