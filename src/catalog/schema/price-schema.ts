// Schema of prices in the configuration file and the management API.
import { z } from 'zod';
import { inProgram } from './in-program.ts';

const dollars = (): z.ZodNumber => z.number().min(0);

/** Price of an endpoint, in USD per million tokens. */
export const priceSchema = inProgram(
  z.strictObject({
    input: dollars().optional().describe('Uncached input.'),
    output: dollars().optional().describe('Output, reasoning included.'),
    cache_read: dollars().optional().describe('Input read from a prompt cache.'),
    cache_write_5m: dollars().optional().describe('Input written to a cache for five minutes.'),
    cache_write_1h: dollars().optional().describe('Input written to a cache for an hour.'),
    input_audio: dollars().optional().describe('Audio input.'),
    output_audio: dollars().optional().describe('Audio output.'),
    request: dollars().optional().describe('USD per request.'),
    tools: z.record(z.string(), dollars()).optional().describe('USD per call of a hosted tool, by name.'),
  }),
).describe('USD per million tokens. Replaces the whole known price; an absent rate is unknown, not free.');
