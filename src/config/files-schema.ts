// The `files` block of the configuration: what uploads may be, and where their bytes lie.
import { z } from 'zod';
import { Secret } from '../telemetry/secret.ts';

/** Where the bytes of uploads lie when not in the data directory. */
export interface S3StoreConfig {
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
  readonly prefix: string;
}

export interface FilesConfig {
  readonly maxBytes: number;
  /** Null: the data directory. */
  readonly store: S3StoreConfig | null;
}

const store = z.strictObject({
  type: z.enum(['s3']).describe('Anything that speaks S3.'),
  endpoint: z
    .string()
    .regex(/^https?:\/\/[^\s/]+\/?$/, 'must be an http or https address without a path')
    .optional()
    .describe("Address of the store, without the bucket. Default: AWS's own in the region."),
  bucket: z.string().min(1).describe('Bucket. It must be there; the gateway makes none.'),
  region: z.string().min(1).default('us-east-1').describe('Region, as the store calls it; R2: `auto`.'),
  access_key_id: z.string().min(1).describe('Id of the access key.'),
  secret_access_key: z.string().min(1).meta({ secret: true }).describe('The secret that belongs to it.'),
  prefix: z
    .string()
    .max(500)
    .default('')
    .describe(
      'In front of the names of objects, e.g. `dragoman/`: one for each gateway that shares a bucket.',
    ),
});

export const filesSchema = z
  .strictObject({
    max_mb: z
      .number()
      .positive()
      .max(512)
      .default(50)
      .describe(
        'Largest file in MB (1 MB = 1,048,576 bytes), uploaded or fetched; also for all files of one request together.',
      ),
    store: store
      .optional()
      .describe('Where the bytes of uploads lie, if not in the data directory. Read at the start only.'),
  })
  .prefault({})
  .describe('Files that clients upload, and those that requests point to.');

/** Converts the checked block. */
export function toFiles({ max_mb, store: s3 }: z.output<typeof filesSchema>): FilesConfig {
  return {
    maxBytes: Math.floor(max_mb * 1_048_576),
    store: s3
      ? {
          endpoint: (s3.endpoint ?? `https://s3.${s3.region}.amazonaws.com`).replace(/\/$/, ''),
          bucket: s3.bucket,
          region: s3.region,
          accessKeyId: s3.access_key_id,
          secretAccessKey: new Secret(s3.secret_access_key),
          prefix: s3.prefix,
        }
      : null,
  };
}
