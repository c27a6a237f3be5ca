// The `files` section of the configuration: limits of uploads, and where they are stored.
import { inProgram, orNull, secret } from '../../../catalog/schema/index.ts';
import { z } from 'zod';

const store = inProgram(
  z.strictObject({
    type: z.enum(['s3']).describe('Any S3-compatible store.'),
    endpoint: z
      .string()
      .regex(/^https?:\/\/[^\s/]+\/?$/, 'must be an http or https address without a path')
      .optional()
      .describe('URL of the store without the bucket. Default: AWS in the region.'),
    bucket: z.string().min(1).describe('Name of an existing bucket.'),
    region: z.string().min(1).default('us-east-1').describe('Region of the store; for R2 `auto`.'),
    access_key_id: z.string().min(1).describe('Id of the access key.'),
    secret_access_key: secret(z.string().min(1)).describe('Secret access key.'),
    prefix: z
      .string()
      .max(500)
      .default('')
      .describe(
        'Prefix of object names, e.g. `dragoman/`. Use a different one for each gateway that shares the bucket.',
      ),
  }),
).transform(({ endpoint, ...rest }) => ({
  ...rest,
  endpoint: (endpoint ?? `https://s3.${rest.region}.amazonaws.com`).replace(/\/$/, ''),
}));

export const filesSchema = inProgram(
  z.strictObject({
    max_mb: z
      .number()
      .positive()
      .max(512)
      .default(50)
      .describe(
        'Maximum size of an uploaded or fetched file in MB (1 MB = 1,048,576 bytes). Also limits all files of a request together.',
      ),
    store: orNull(store).describe(
      'Store for the contents of uploads, instead of the data directory. Read only at the start.',
    ),
  }),
)
  .prefault({})
  .describe('Uploaded files, and files that requests refer to.');
