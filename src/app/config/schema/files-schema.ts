// The `files` section of the configuration: limits of uploads, and where they are stored.
import { inProgram, orNull, secret } from '../../../catalog/schema/index.ts';
import { z } from 'zod';

const store = inProgram(
  z.strictObject({
    type: z.enum(['s3']).describe('Anything that speaks S3.'),
    endpoint: z
      .string()
      .regex(/^https?:\/\/[^\s/]+\/?$/, 'must be an http or https address without a path')
      .optional()
      .describe("Address of the store, without the bucket. Default: AWS's own in the region."),
    bucket: z.string().min(1).describe('Bucket. It must be there; the gateway makes none.'),
    region: z.string().min(1).default('us-east-1').describe('Region, as the store calls it; R2: `auto`.'),
    access_key_id: z.string().min(1).describe('Id of the access key.'),
    secret_access_key: secret(z.string().min(1)).describe('The secret that belongs to it.'),
    prefix: z
      .string()
      .max(500)
      .default('')
      .describe(
        'In front of the names of objects, e.g. `dragoman/`: one for each gateway that shares a bucket.',
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
        'Largest file in MB (1 MB = 1,048,576 bytes), uploaded or fetched; also for all files of one request together.',
      ),
    store: orNull(store).describe(
      'Where the bytes of uploads lie, if not in the data directory. Read at the start only.',
    ),
  }),
)
  .prefault({})
  .describe('Files that clients upload, and those that requests point to.');
