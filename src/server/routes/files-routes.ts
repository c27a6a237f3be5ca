// Files over HTTP in the format of OpenAI's Files API: uploaded once, then named by id. Storage and quotas are in
// `state/`.
import { z } from 'zod';
import { invalidMember, TEXTS, notFound } from '../../canonical/index.ts';
import { newId } from '../../base/runtime/ids.ts';
import { listShape, type ShownFile } from '../../protocols/index.ts';
import { BATCH_PURPOSE } from '../../engine/index.ts';
import { tooLarge, type Upload } from '../../engine/state/files.ts';
import type { StoredFile } from '../../accounts/ports/index.ts';
import { deletedShape, encodeList, pageQuery } from '../list-page.ts';
import { readMultipart, type PartHead, type PartSink } from '../body/multipart.ts';
import { type ClientCall, clientRoute, type ClientRoute } from './client-route.ts';
import { download, plainName } from './file-download.ts';
import { mediaTypeOfFile } from '../../base/lib/media-type.ts';

/** Supported purposes; OpenAI's others belong to services that the gateway does not offer. */
const PURPOSES = ['user_data', 'vision', BATCH_PURPOSE] as const;
/** Seconds; OpenAI API reference, "Upload file": `expires_after`. */
const LEAST_EXPIRY_S = 3_600;
const MOST_EXPIRY_S = 2_592_000;
/** `limit` of "List files": maximum and default. */
const MAX_LISTED = 10_000;
const LONGEST_FIELD = 1_000;

const file = z.looseObject({
  id: z.string(),
  object: z.literal('file'),
  bytes: z.int(),
  filename: z.string(),
  purpose: z.string(),
});
const ofOne = {
  tag: 'Files',
  params: { id: { description: 'The id of the file.' } },
  refusals: [402, 404, 409],
} as const;
const bytes = z.string().meta({ contentMediaType: 'application/octet-stream' });
const id = '$response.body#/id';

export const FILE_ROUTES: readonly ClientRoute[] = [
  clientRoute({
    ...ofOne,
    id: 'uploadFile',
    method: 'post',
    path: '/files',
    summary: 'Uploads a file for use in requests.',
    bodyMedia: 'multipart/form-data',
    body: z.object({ purpose: z.enum(PURPOSES), file: bytes.describe('Its bytes.') }),
    bodyExample: { purpose: 'user_data', file: 'Some text.' },
    answer: file,
    links: { retrieveFile: { id }, downloadFile: { id }, deleteFile: { id } },
    async run(call) {
      const { request, deps } = call;
      const form = new UploadForm(call);
      try {
        await readMultipart(deps.bodies.pieces(request), request.headers.get('content-type') ?? '', (head) =>
          form.open(head),
        );
        return shown(await form.keep(deps.expiresAt(call.now)), call);
      } catch (error) {
        await form.discard();
        throw error;
      }
    },
  }),
  clientRoute({
    ...ofOne,
    id: 'listFiles',
    method: 'get',
    path: '/files',
    summary: 'Lists the files of the project.',
    query: z.object({ ...pageQuery(MAX_LISTED, MAX_LISTED), purpose: z.string().optional() }),
    answer: listShape(file),
    async run({ deps, projectId, query, search, server }) {
      const shapes = server.files;
      const after = (shapes && search.get(shapes.names.after)) || query.after;
      const found = await deps.files.list(projectId, { ...query, after });
      return shapes
        ? shapes.encodeList(found.files.map(dated), found.hasMore)
        : encodeList(found.files.map(encodeFile), found.hasMore);
    },
  }),
  clientRoute({
    ...ofOne,
    id: 'retrieveFile',
    method: 'get',
    path: '/files/{id}',
    summary: 'Returns the metadata of a file.',
    answer: file,
    run: async (call) => shown(await findFile(call), call),
  }),
  clientRoute({
    ...ofOne,
    id: 'downloadFile',
    method: 'get',
    path: '/files/{id}/content',
    summary: 'Returns the content of a file.',
    media: '*/*',
    answer: bytes,
    async run(call) {
      const kept = await findFile(call);
      const content = await call.deps.files.stream(kept);
      if (!content) throw notFound('File', kept.id);
      return download(kept, content);
    },
  }),
  clientRoute({
    ...ofOne,
    id: 'deleteFile',
    method: 'delete',
    path: '/files/{id}',
    summary: 'Deletes a file.',
    answer: deletedShape,
    async run({ deps, projectId, param, server }) {
      if (!(await deps.files.delete(projectId, param('id')))) throw notFound('File', param('id'));
      const gone = { id: param('id'), object: 'file', deleted: true as const };
      return server.files ? Response.json(server.files.encodeDeleted(gone.id)) : gone;
    },
  }),
];

type OwnedCall = Pick<ClientCall, 'deps' | 'projectId' | 'param' | 'now' | 'server'>;

async function findFile({ deps, projectId, param }: OwnedCall): Promise<StoredFile> {
  const found = await deps.files.find(projectId, param('id'));
  if (found) return found;
  throw notFound('File', param('id'));
}

/** Encodes a file in the client's protocol. */
function shown(kept: StoredFile, { server }: OwnedCall): Response | z.input<typeof file> {
  return server.files ? Response.json(server.files.encode(dated(kept))) : encodeFile(kept);
}

function dated(kept: StoredFile): ShownFile {
  return { ...kept, createdAt: new Date(kept.createdAt).toISOString() };
}

function encodeFile(kept: StoredFile) {
  return {
    id: kept.id,
    object: 'file' as const,
    bytes: kept.bytes,
    created_at: Math.floor(kept.createdAt / 1000),
    expires_at: kept.expiresAt === null ? null : Math.floor(kept.expiresAt / 1000),
    filename: kept.filename,
    purpose: kept.purpose,
    status: 'processed',
    status_details: null,
  };
}

/** Fields of an upload, in any order. */
class UploadForm {
  readonly #call: OwnedCall;
  readonly #fields = new Map<string, string>();
  #upload: Upload | undefined;
  #filename = '';
  #isKept = false;

  constructor(call: OwnedCall) {
    this.#call = call;
  }

  open({ name, filename }: PartHead): PartSink {
    if (name !== 'file') {
      // One of several would win in silence.
      if (this.#fields.has(name)) throw invalidMember(name, 'must be sent only once');
      this.#fields.set(name, '');
      return (piece) => {
        const text = (this.#fields.get(name) ?? '') + Buffer.from(piece).toString('utf8');
        if (text.length > LONGEST_FIELD) throw invalidMember(name, 'is too long');
        this.#fields.set(name, text);
      };
    }
    if (this.#filename !== '') throw invalidMember('file', 'must be sent only once');
    this.#filename = plainName(filename ?? '');
    const { files, batches } = this.#call.deps;
    return async (piece) => {
      // The purpose may follow the file.
      this.#upload ??= await files.upload(Math.max(files.maxBytes, batches.maxBytes));
      await this.#upload.write(piece);
      this.#requireSize(this.#fields.get('purpose') ?? BATCH_PURPOSE, this.#upload);
    };
  }

  /** @param latest latest permitted expiry in Unix milliseconds; null: none */
  async keep(latest: number | null): Promise<StoredFile> {
    const purpose = this.#fields.get('purpose') ?? this.#call.server.files?.usualPurpose;
    if (this.#filename === '') throw invalidMember('file', 'is required');
    if (!PURPOSES.some((known) => known === purpose))
      throw invalidMember('purpose', TEXTS.mustBeOneOf(PURPOSES.join(', ')));
    const wanted = this.#expiry();
    const upload = this.#upload;
    if (!upload) throw invalidMember('file', 'is empty');
    this.#requireSize(purpose ?? '', upload);
    const filename = this.#filename;
    this.#isKept = true;
    return upload.keep({
      id: newId('file-'),
      projectId: this.#call.projectId,
      createdAt: this.#call.now,
      purpose: purpose ?? '',
      filename,
      mediaType: mediaTypeOfFile(upload.head, filename),
      expiresAt: wanted === null || latest === null ? (wanted ?? latest) : Math.min(wanted, latest),
    });
  }

  #requireSize(purpose: string, upload: Upload): void {
    const { files, batches } = this.#call.deps;
    const isBatch = purpose === BATCH_PURPOSE;
    const most = isBatch ? batches.maxBytes : files.maxBytes;
    if (upload.bytes > most) throw tooLarge(most, isBatch ? 'batches.max_mb' : 'files.max_mb');
  }

  async discard(): Promise<void> {
    if (!this.#isKept) await this.#upload?.discard();
  }

  /** Unix milliseconds. Null: no expiry was requested. */
  #expiry(): number | null {
    const anchor = this.#fields.get('expires_after[anchor]');
    const seconds = this.#fields.get('expires_after[seconds]');
    if (anchor === undefined && seconds === undefined) return null;
    if (anchor !== 'created_at') throw invalidMember('expires_after.anchor', 'must be created_at');
    if (
      !/^\d{1,9}$/.test(seconds ?? '') ||
      Number(seconds) < LEAST_EXPIRY_S ||
      Number(seconds) > MOST_EXPIRY_S
    )
      throw invalidMember('expires_after.seconds', TEXTS.mustBeInteger(LEAST_EXPIRY_S, MOST_EXPIRY_S));
    return this.#call.now + Number(seconds) * 1000;
  }
}
