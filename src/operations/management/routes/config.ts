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
    summary: 'Returns the version, current time and time zone of the gateway.',
    answer: z.object({
      object: z.literal('about'),
      version: z.string(),
      time: z.iso.datetime(),
      timezone: z.string().describe('`server.timezone`, which determines days and months in reports.'),
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
    summary: 'Returns the current configuration, with defaults and without secrets.',
    answer: z.object({
      object: z.literal('config'),
      path: z.string().nullable().describe('Path of the configuration file; null: none.'),
      revision: z.int().describe('Number of the accepted configuration, starting at 1.'),
      config: z
        .record(z.string(), z.unknown())
        .describe('In the format of the file. `[secret]` replaces secrets.'),
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
    summary: 'Validates a configuration file without applying it.',
    description:
      'Values that it refers to are not read. A variable must be set. A file must be a regular file in a folder of ' +
      '`server.credential_dirs`, or be named in the current configuration.',
    body: z.strictObject({
      config: z.string().max(MOST_CHARS).describe('Content of the file: YAML or JSON.'),
    }),
    answer: z.object({
      object: z.literal('config.check'),
      valid: z.boolean(),
      problems: z.array(z.string()).describe('Each begins with the path of the invalid key.'),
      unchecked: z
        .array(z.string())
        .describe(
          'Paths of keys whose values come from variables or files and were therefore not validated.',
        ),
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
