// The active configuration, and validation of drafts.
import { z } from 'zod';
import { VERSION } from '../../../base/lib/version.ts';
import { route, type Route } from '../route.ts';

/** Maximum length of a draft in characters. Real files are shorter. */
const MOST_CHARS = 1_000_000;

export const CONFIG_ROUTES: readonly Route[] = [
  route({
    method: 'get',
    path: '/about',
    tag: 'Configuration',
    summary: 'The version of the gateway, its time, and the zone of its days.',
    answer: z.object({
      object: z.literal('about'),
      version: z.string(),
      time: z.iso.datetime(),
      timezone: z.string().describe('`server.timezone`: whose days and months reports have.'),
    }),
    run: ({ now, timeZone }) => ({
      object: 'about' as const,
      version: VERSION,
      time: new Date(now).toISOString(),
      timezone: timeZone,
    }),
  }),
  route({
    method: 'get',
    path: '/config',
    tag: 'Configuration',
    summary: 'The configuration that is in force, with its defaults and without its secrets.',
    answer: z.object({
      object: z.literal('config'),
      path: z.string().nullable().describe('The file it was read from; null: there is none.'),
      revision: z.int().describe('Counts up with every configuration that was accepted, from 1.'),
      config: z
        .record(z.string(), z.unknown())
        .describe('In the words of the file; `[secret]` stands for a secret.'),
    }),
    run: ({ deps }) => {
      const { path, revision, show } = deps.configuration();
      return { object: 'config' as const, path, revision, config: show() };
    },
  }),
  route({
    method: 'post',
    path: '/config/check',
    tag: 'Configuration',
    summary: 'Says what is wrong with a configuration file, without using it.',
    description:
      'Nothing that it refers to is read: a variable must be set, and a file must be a regular one in a folder of ' +
      '`server.credential_dirs`, or named by the configuration in force.',
    body: z.strictObject({
      config: z.string().max(MOST_CHARS).describe('The text of the file: YAML, of which JSON is a part.'),
    }),
    answer: z.object({
      object: z.literal('config.check'),
      valid: z.boolean(),
      problems: z.array(z.string()).describe('Each begins with the path of the key that is wrong.'),
      unchecked: z
        .array(z.string())
        .describe('Paths of keys whose values come from variables or files: their values were not checked.'),
    }),
    run: async ({ deps, body, reader }) => {
      const { problems, unchecked } = await deps.checkDraft(body.config, reader.signal);
      return {
        object: 'config.check' as const,
        valid: problems.length === 0,
        problems: [...problems],
        unchecked: [...unchecked],
      };
    },
  }),
];
