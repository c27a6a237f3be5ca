// Files over HTTP, in the shapes of OpenAI's Files API: uploaded once, named by their id in later requests. Owns the form
// fields and the answers; where bytes lie and what they count for is known in `state/`.
import { GatewayError, type JsonObject } from '../../canonical/index.ts';
import { newId } from '../../runtime/ids.ts';
import type { Upload } from '../../state/files.ts';
import type { StoredFile } from '../../storage/ports.ts';
import { encodeList, readPage } from '../list-page.ts';
import { readMultipart, type PartHead, type PartSink } from '../body/multipart.ts';
import { notFound, type AddRoute, type StateCall } from './state-routes.ts';
import { mediaTypeOfFile } from '../../lib/media-type.ts';

/** What a file may be for; OpenAI's other purposes belong to services that the gateway does not have. */
const PURPOSES = ['user_data', 'vision'] as const;
/** Seconds; OpenAI API reference, "Upload file": `expires_after`. */
const SOONEST = 3_600;
const LATEST = 2_592_000;
/** The same page, `limit` of "List files": the greatest, and the usual one. */
const MAX_LISTED = 10_000;
const LONGEST_FIELD = 1_000;
const LONGEST_NAME = 255;

/** Adds the routes. */
export function addFilesRoutes(add: AddRoute): void {
  add('post', '/files', create);
  add('get', '/files', list);
  add('get', '/files/:id', async (call) => encodeFile(await findFile(call)));
  add('get', '/files/:id/content', content);
  add('delete', '/files/:id', remove);
}

async function create(call: StateCall): Promise<JsonObject> {
  const { request, deps } = call;
  const form = new UploadForm(call);
  try {
    await readMultipart(deps.bodies.pieces(request), request.headers.get('content-type') ?? '', (head) =>
      form.open(head),
    );
    return encodeFile(await form.keep(deps.expiresAt(call.now)));
  } catch (error) {
    await form.discard();
    throw error;
  }
}

async function list(call: StateCall): Promise<JsonObject> {
  const page = readPage(call.query, MAX_LISTED, MAX_LISTED);
  const purpose = call.query.get('purpose') ?? undefined;
  const found = await call.deps.files.list(call.projectId, { ...page, purpose });
  return encodeList(found.files.map(encodeFile), found.hasMore);
}

async function content(call: StateCall): Promise<Response> {
  const file = await findFile(call);
  const bytes = await call.deps.files.stream(file);
  if (!bytes) throw notFound('File', file.id);
  // Whatever somebody uploaded: no browser is to run it in the name of this address.
  return new Response(bytes, {
    headers: {
      'content-type': file.mediaType,
      'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(file.filename)}`,
    },
  });
}

async function remove(call: StateCall): Promise<JsonObject> {
  const id = call.id('id');
  if (!(await call.deps.files.delete(call.projectId, id))) throw notFound('File', id);
  return { id, object: 'file', deleted: true };
}

async function findFile({ deps, projectId, id }: StateCall): Promise<StoredFile> {
  const found = await deps.files.find(projectId, id('id'));
  if (found) return found;
  throw notFound('File', id('id'));
}

function encodeFile(file: StoredFile): JsonObject {
  return {
    id: file.id,
    object: 'file',
    bytes: file.bytes,
    created_at: Math.floor(file.createdAt / 1000),
    expires_at: file.expiresAt === null ? null : Math.floor(file.expiresAt / 1000),
    filename: file.filename,
    purpose: file.purpose,
    status: 'processed',
    status_details: null,
  };
}

/** The fields of an upload, in whatever order they come. */
class UploadForm {
  readonly #call: StateCall;
  readonly #fields = new Map<string, string>();
  #upload: Upload | undefined;
  #filename = '';
  #isKept = false;

  constructor(call: StateCall) {
    this.#call = call;
  }

  open({ name, filename }: PartHead): PartSink {
    if (name !== 'file') {
      this.#fields.set(name, '');
      return (bytes) => {
        const text = (this.#fields.get(name) ?? '') + Buffer.from(bytes).toString('utf8');
        if (text.length > LONGEST_FIELD) throw wrong(name, 'is too long');
        this.#fields.set(name, text);
      };
    }
    if (this.#filename !== '') throw wrong('file', 'there may be only one');
    this.#filename = plainName(filename ?? '');
    return async (bytes) => (this.#upload ??= await this.#call.deps.files.upload()).write(bytes);
  }

  /** @param latest when it expires at the latest, in Unix milliseconds; null: never */
  async keep(latest: number | null): Promise<StoredFile> {
    const purpose = this.#fields.get('purpose');
    if (this.#filename === '') throw wrong('file', 'is required');
    if (!PURPOSES.some((known) => known === purpose))
      throw wrong('purpose', `must be one of ${PURPOSES.join(', ')}`);
    const wanted = this.#expiry();
    const upload = this.#upload;
    if (!upload) throw wrong('file', 'is empty');
    const filename = this.#filename;
    this.#isKept = true;
    return upload.keep({
      id: newId('file_'),
      projectId: this.#call.projectId,
      createdAt: this.#call.now,
      purpose: purpose ?? '',
      filename,
      mediaType: mediaTypeOfFile(upload.head, filename),
      expiresAt: wanted === null || latest === null ? (wanted ?? latest) : Math.min(wanted, latest),
    });
  }

  async discard(): Promise<void> {
    if (!this.#isKept) await this.#upload?.discard();
  }

  /** Unix milliseconds; null where nothing is asked for. */
  #expiry(): number | null {
    const anchor = this.#fields.get('expires_after[anchor]');
    const seconds = this.#fields.get('expires_after[seconds]');
    if (anchor === undefined && seconds === undefined) return null;
    if (anchor !== 'created_at') throw wrong('expires_after.anchor', 'must be created_at');
    if (!/^\d{1,9}$/.test(seconds ?? '') || Number(seconds) < SOONEST || Number(seconds) > LATEST)
      throw wrong('expires_after.seconds', `must be an integer from ${SOONEST} to ${LATEST}`);
    return this.#call.now + Number(seconds) * 1000;
  }
}

/** Without folders and control characters, and never empty. */
function plainName(filename: string): string {
  const [name = ''] = filename.split(/[/\\]/).slice(-1);
  const printable = [...name].filter((char) => char >= ' ' && char !== '\u007f');
  return printable.slice(0, LONGEST_NAME).join('') || 'file';
}

function wrong(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', `${param}: ${message}`, { param });
}
