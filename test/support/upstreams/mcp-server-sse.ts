// The server side of the older HTTP+SSE transport (MCP specification 2024-11-05, "Transports"), which the SDK's server
// no longer has: one event stream per session, which first names the address that messages are posted to.
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';

export class SseServerTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly #endpoint: string;
  readonly #gone: () => void;
  #controller: ReadableStreamDefaultController<string> | undefined;

  /** @param gone called once the stream is closed, by whoever */
  constructor(endpoint: string, gone: () => void) {
    this.#endpoint = endpoint;
    this.#gone = gone;
  }

  /** The answer to the GET that opens the session. */
  open(): Response {
    const stream = new ReadableStream<string>({
      start: (controller) => {
        this.#controller = controller;
        controller.enqueue(`event: endpoint\ndata: ${this.#endpoint}\n\n`);
      },
      cancel: () => this.#close(),
    });
    const bytes = stream.pipeThrough(new TextEncoderStream());
    return new Response(bytes, { headers: { 'content-type': 'text/event-stream' } });
  }

  /** Takes a message that was posted. */
  async receive(request: Request): Promise<Response> {
    this.onmessage?.((await request.json()) as JSONRPCMessage);
    return new Response('Accepted', { status: 202 });
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    this.#controller?.enqueue(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  }

  async close(): Promise<void> {
    this.#controller?.close();
    this.#close();
  }

  #close(): void {
    this.#controller = undefined;
    this.#gone();
    this.onclose?.();
  }
}
