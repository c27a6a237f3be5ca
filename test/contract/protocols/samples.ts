// Texts and values of the rows of the matrix. Knows no row.
import type { Answer } from './exchange.ts';

export const HELLO = [{ user: 'What is the weather in Bern?' }] as const;
export const PLAIN: Answer = { text: 'Sunny, 21 °C. ☀️', finish: 'stop' };
export const WEATHER = { id: 'call_a', name: 'get_weather', args: { city: 'Bern' } } as const;
export const TIME = { id: 'call_b', name: 'get_time', args: { city: 'Ålesund' } } as const;
export const SUNNY = { id: 'call_a', name: 'get_weather', text: 'sunny' } as const;
export const NOON = { id: 'call_b', name: 'get_time', text: '12:00' } as const;
export const TOOLS = { turns: HELLO, tools: ['get_weather', 'get_time'] } as const;
export const CALLED: Answer = { text: 'Let me look.', calls: [WEATHER], finish: 'calls' };
export const THOUGHT = { text: 'The user asks for the weather.', state: 'c3RhdGUx0000' } as const;
export const REDACTED = { text: '', state: 'cmVkYWN00000' } as const;
/** One pixel. */
export { PNG } from '../../support/images.ts';
export const PDF = Buffer.from('%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n').toString('base64');
/** Two samples of silence. */
export const WAV = Buffer.from(
  'RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\x04\0\0\0\0\0\0\0',
  'latin1',
).toString('base64');
/** Hits of a search. */
export const PAGES = [
  { url: 'https://example.com/zurich', title: 'Zürich' },
  { url: 'https://example.com/bern', title: 'Bern' },
] as const;
