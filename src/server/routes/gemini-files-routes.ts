// Google's Files API: resumable uploads, and metadata of files. `engine/state` stores the bytes and enforces the quota.
// Sources: API reference, "Files" (2026-11); headers of Google's resumable uploads as in its Photos API
// (developers.google.com/photos/library/guides/resumable-uploads, 2026-11).
import { z } from 'zod';
import type { Principal } from '../../accounts/auth/index.ts';
import type { StoredFile, StoredUpload } from '../../accounts/ports/index.ts';
import { mediaTypeOfFile, plainMediaType } from '../../base/lib/media-type.ts';
import { newId } from '../../base/runtime/ids.ts';
import { GatewayError, invalidMember, TEXTS, notFound } from '../../canonical/index.ts';
import { BATCH_PURPOSE } from '../../engine/index.ts';
import { PIECE_UNIT, type PieceOnItsWay, tooLarge } from '../../engine/state/files.ts';
import { decodeGeminiUpload, encodeGeminiFile, fileIdOf } from '../../protocols/index.ts';
import { clientOrigin } from '../client-origin.ts';
import { pageSize } from '../list-page.ts';
import { errorResponse } from '../reply.ts';
import { type ClientCall, type ClientDependencies, clientRoute, type ClientRoute } from './client-route.ts';
import { download, withoutControlCharacters } from './file-download.ts';
import { anyFile } from './shown-batch.ts';
import { isoOf } from './state-routes.ts';

/** Retention of files at Google, and page sizes. */
const KEPT_MS = 48 * 3_600_000;
const MOST_LISTED = 100;
const USUALLY_LISTED = 10;
const USUAL_PURPOSE = 'user_data';
/** Purposes of files created by the gateway. */
const RESULTS = /_output$/;
const UPLOAD_ID = /^[0-9a-f]{48}$/;

const COMMAND = 'x-goog-upload-command';
const OFFSET = 'x-goog-upload-offset';
const PROTOCOL = 'x-goog-upload-protocol';
const SIZE = 'x-goog-upload-header-content-length';
const TYPE = 'x-goog-upload-header-content-type';
const NAME = 'x-goog-upload-file-name';

const file = z.looseObject({
  name: z.string(),
  mimeType: z.string(),
  sizeBytes: z.string(),
  sha256Hash: z.string().optional().describe('SHA-256 of the bytes in hex, encoded in base64.'),
  uri: z.string(),
  state: z.literal('ACTIVE'),
});
const nothing = z.object({});
const ofOne = {
  tag: 'Files',
  params: { id: { description: 'The part of its name after `files/`.' } },
  refusals: [404],
} as const;

export const GEMINI_FILE_ROUTES: readonly ClientRoute[] = [
  clientRoute({
    ...ofOne,
    id: 'downloadGeminiFile',
    method: 'get',
    path: '/files/{id}:download',
    summary: 'Returns the content of a file, for example the results of a batch.',
    media: '*/*',
    answer: z.string().meta({ contentMediaType: 'application/octet-stream' }),
    async run(call) {
      const kept = await findFile(call);
      const content = await call.deps.files.stream(kept);
      if (content) return download(kept, content);
      throw notFound('File', kept.id);
    },
  }),
  clientRoute({
    tag: 'Files',
    id: 'listGeminiFiles',
    method: 'get',
    path: '/files',
    summary: 'Lists the files of the project, newest first.',
    query: z.object({
      pageSize: pageSize(MOST_LISTED, USUALLY_LISTED),
      pageToken: z.string().optional().describe('`nextPageToken` of the previous page.'),
    }),
    answer: z.object({ files: z.array(file), nextPageToken: z.string().optional() }),
    async run(call) {
      const { deps, projectId, query } = call;
      const { pageSize: limit, pageToken: after } = query;
      if (after !== undefined && !(await deps.files.find(projectId, after)))
        throw invalidMember('pageToken', `file '${after.slice(0, 100)}' not found`);
      const { files, hasMore } = await deps.files.list(projectId, { limit, order: 'desc', after });
      const last = files.at(-1);
      return Response.json({
        files: files.map((kept) => shown(kept, call)),
        ...(hasMore && last && { nextPageToken: last.id }),
      });
    },
  }),
  clientRoute({
    ...ofOne,
    id: 'getGeminiFile',
    method: 'get',
    path: '/files/{id}',
    summary: 'Returns the metadata of a file.',
    answer: file,
    run: async (call) => Response.json(shown(await findFile(call), call)),
  }),
  clientRoute({
    ...ofOne,
    id: 'deleteGeminiFile',
    method: 'delete',
    path: '/files/{id}',
    summary: 'Deletes a file.',
    answer: nothing,
    refusals: [404, 409],
    async run(call) {
      const { id } = await findFile(call);
      await call.deps.files.delete(call.projectId, id);
      return {};
    },
  }),
];

/** Begins an upload. Served below the paths for uploads. */
export const BEGIN_UPLOAD: ClientRoute = clientRoute({
  tag: 'Files',
  id: 'beginGeminiUpload',
  method: 'post',
  path: '/files',
  summary: 'Starts an upload. The response header `X-Goog-Upload-URL` contains its URL.',
  headers: {
    'X-Goog-Upload-Protocol': { description: 'Must be `resumable`.', example: 'resumable' },
    'X-Goog-Upload-Command': { description: '`start`.', example: 'start' },
    'X-Goog-Upload-Header-Content-Length': { description: 'Size of the file in bytes.', example: '10' },
    'X-Goog-Upload-Header-Content-Type': { description: 'Media type of the file.', example: 'text/plain' },
  },
  body: z
    .object({
      file: z
        .looseObject({
          name: z.string().optional().describe('`files/` and a name that is free in the project.'),
          displayName: z.string().optional(),
          mimeType: z.string().optional(),
        })
        .optional(),
    })
    .optional(),
  bodyExample: { file: { displayName: 'notes' } },
  answer: nothing,
  refusals: [402, 409],
  async run(call) {
    const { deps, principal, request, sent } = call;
    const { headers } = request;
    requireWord(PROTOCOL, headers.get(PROTOCOL), ['resumable']);
    requireWord(COMMAND, headers.get(COMMAND), ['start']);
    const { name = null, displayName, mimeType } = decodeGeminiUpload(sent);
    const mediaType = plainMediaType(mimeType ?? headers.get(TYPE) ?? '') ?? null;
    const size = countIn(headers, SIZE);
    // Google's files have no purpose, so batch input is recognised by its media type.
    const purpose = mediaType === 'application/jsonl' ? BATCH_PURPOSE : USUAL_PURPOSE;
    requireSize(size, purpose, deps);
    if (name !== null && (await deps.files.find(principal.projectId, name)))
      throw new GatewayError('conflict', TEXTS.fileExists(name));
    const begun = await deps.files.resumable.begin({
      projectId: principal.projectId,
      keyId: principal.keyId,
      purpose,
      name,
      filename: withoutControlCharacters(displayName ?? fileNameIn(headers)) || 'file',
      mediaType,
      size,
    });
    const address = `${clientOrigin(request)}${new URL(request.url).pathname}/${begun.id}`;
    return answerOf(
      'active',
      {},
      {
        'x-goog-upload-url': address,
        'x-goog-upload-chunk-granularity': String(PIECE_UNIT),
      },
    );
  },
});

/** Continues an upload, also for clients that send no key with the bytes. */
export const CONTINUE_UPLOAD: ClientRoute = clientRoute({
  tag: 'Files',
  id: 'continueGeminiUpload',
  method: 'post',
  path: '/files/{upload}',
  params: { upload: { description: 'The secret of the upload. It replaces an API key.' } },
  summary: 'Adds bytes to an upload, queries its progress, cancels it, or completes it as a file.',
  headers: {
    'X-Goog-Upload-Command': {
      description: '`upload`, `upload, finalize`, `finalize`, `query` or `cancel`.',
    },
    'X-Goog-Upload-Offset': { description: 'Number of bytes sent before this body.' },
  },
  bodyMedia: 'application/octet-stream',
  body: z.string().meta({ contentMediaType: 'application/octet-stream' }),
  answer: z.object({ file: file.optional() }),
  refusals: [402, 404, 409],
  async run(call) {
    const upload = await findUpload(call.deps, call.param('upload'));
    if (upload.projectId !== call.projectId) throw noUpload();
    try {
      return await goOn(call, upload);
    } catch (error) {
      return refused(call, upload, error);
    }
  },
});

/** Principal of an upload whose client sends no key with its bytes, as Google's Python library. The upload's id is a secret. */
export async function uploaderOf(
  deps: ClientDependencies,
  param: (name: string) => string,
): Promise<Principal> {
  try {
    const { keyId } = await findUpload(deps, param('upload'));
    return deps.keyById(keyId);
  } catch (error) {
    const { kind, message } = GatewayError.from(error);
    // An unknown id counts as a wrong secret. `conflict`: the key of the upload was revoked.
    if (kind !== 'not_found' && kind !== 'conflict') throw error;
    throw new GatewayError('authentication', `No API key was sent. ${message}`);
  }
}

/** Runs the command of a request on an upload. */
async function goOn(call: ClientCall, upload: StoredUpload): Promise<Response> {
  const { deps, now, request } = call;
  const { resumable } = deps.files;
  const { headers } = request;
  if (upload.fileId !== null) return ended(call, upload, upload.fileId);
  const command = (headers.get(COMMAND) ?? '').toLowerCase().replaceAll(/\s/g, '');
  requireWord(COMMAND, command, ['upload', 'upload,finalize', 'finalize', 'query', 'cancel']);
  if (command === 'query') return active(upload.bytes);
  if (command === 'cancel') {
    await resumable.cancel(upload);
    return answerOf('cancelled');
  }
  const offset = countIn(headers, OFFSET);
  // A bare `finalize` has no bytes, and needs no offset.
  if (offset === null && command !== 'finalize') throw invalidMember(OFFSET, 'is required');
  const piece: PieceOnItsWay = {
    offset: offset ?? upload.bytes,
    bytes: deps.bodies.pieces(request),
    most: mostBytes(upload.purpose, deps),
  };
  if (command === 'upload') return active(await resumable.add(upload, piece));
  const kept = await resumable.finish(upload, piece, (head) => ({
    id: newId('file-'),
    projectId: upload.projectId,
    createdAt: now,
    purpose: upload.purpose,
    name: upload.name,
    filename: upload.filename,
    mediaType: mediaTypeOfFile(head, upload.filename, upload.mediaType ?? undefined),
    expiresAt: Math.min(now + KEPT_MS, deps.expiresAt(now) ?? Infinity),
  }));
  return answerOf('final', { file: shown(kept, call) });
}

/** Response to any command after the last: the file, because the client may not have received the first response. */
async function ended(call: ClientCall, { projectId }: StoredUpload, fileId: string): Promise<Response> {
  // A client that is still writing would see a connection reset.
  for await (const _ of call.deps.bodies.pieces(call.request));
  const kept = await call.deps.files.find(projectId, fileId);
  if (kept) return answerOf('final', { file: shown(kept, call) });
  throw noUpload();
}

/** Response to a failed request. A file that is too large ends its upload, because it can no longer succeed. */
async function refused(
  { deps, requestId, server }: ClientCall,
  upload: StoredUpload,
  thrown: unknown,
): Promise<Response> {
  const { kind } = GatewayError.from(thrown);
  const ends = kind === 'too_large' || kind === 'quota';
  if (ends) await deps.files.resumable.cancel(upload);
  const answer = errorResponse(deps, thrown, requestId, server);
  answer.headers.set('x-goog-upload-status', ends ? 'final' : 'active');
  return answer;
}

function active(received: number): Response {
  return answerOf('active', {}, { 'x-goog-upload-size-received': String(received) });
}

function answerOf(
  status: 'active' | 'final' | 'cancelled',
  body: object = {},
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json(body, { headers: { 'x-goog-upload-status': status, ...headers } });
}

async function findUpload({ files }: Pick<ClientDependencies, 'files'>, id: string): Promise<StoredUpload> {
  const found = UPLOAD_ID.test(id) ? await files.resumable.find(id) : null;
  if (found) return found;
  throw noUpload();
}

function noUpload(): GatewayError {
  return new GatewayError('not_found', 'The upload does not exist or has ended. Start a new one.');
}

function findFile(call: ClientCall): Promise<StoredFile> {
  const id = call.param('id');
  // Google's TypeScript library downloads by the full URL of a file, unless that uses TLS.
  return anyFile(call, fileIdOf(id.includes('/') ? id : `files/${id}`) ?? id, 'name');
}

function shown(kept: StoredFile, { request }: Pick<ClientCall, 'request'>) {
  return encodeGeminiFile({
    ...kept,
    createdAt: isoOf(kept.createdAt),
    expiresAt: kept.expiresAt === null ? null : isoOf(kept.expiresAt),
    origin: clientOrigin(request),
    isGenerated: RESULTS.test(kept.purpose),
  });
}

function mostBytes(purpose: string, { files, batches }: ClientDependencies): number {
  return purpose === BATCH_PURPOSE ? batches.maxBytes : files.maxBytes;
}

/** @throws GatewayError `too_large`, or `invalid_request` for an empty file */
function requireSize(size: number | null, purpose: string, deps: ClientDependencies): void {
  if (size === 0) throw invalidMember(SIZE, 'the file is empty');
  const most = mostBytes(purpose, deps);
  if (size !== null && size > most)
    throw tooLarge(most, purpose === BATCH_PURPOSE ? 'batches.max_mb' : 'files.max_mb');
}

/** Reads a non-negative integer from a header. @returns null if absent @throws GatewayError `invalid_request` */
function countIn(headers: Headers, name: string): number | null {
  const given = headers.get(name);
  if (given === null) return null;
  if (!/^\d{1,15}$/.test(given)) throw invalidMember(name, TEXTS.mustBeCount);
  return Number(given);
}

/** File name sent by the client. */
function fileNameIn(headers: Headers): string {
  return headers.get(NAME)?.slice(0, 512) ?? '';
}

/** @throws GatewayError `invalid_request` */
function requireWord(name: string, given: string | null, words: readonly string[]): void {
  if (!words.includes((given ?? '').toLowerCase().trim()))
    throw invalidMember(name, TEXTS.mustBeOneOf(words.join(' · ')));
}
