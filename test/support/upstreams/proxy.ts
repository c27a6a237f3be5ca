// A proxy on a real socket that records every head it reads, and either behaves (CONNECT, and requests in absolute form)
// or does exactly what a test says. Names lead where the test says, so that no name has to resolve.
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

/** Does something with a head that was read, in place of the proxy. */
export type Misbehaviour = (socket: Socket, head: string) => void;

export class TestProxy {
  /** Heads as they were sent: CONNECT, or a request in absolute form. */
  readonly heads: string[] = [];
  misbehave: Misbehaviour | undefined;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #isTls: boolean;
  readonly #ports: Readonly<Record<string, number>>;

  /** @param ports of loopback, by the `host:port` that is asked for; anything else is a 502 */
  constructor(server: Server, isTls: boolean, ports: Readonly<Record<string, number>>) {
    this.#server = server;
    this.#isTls = isTls;
    this.#ports = ports;
    server.on(isTls ? 'secureConnection' : 'connection', (socket: Socket) => this.#accept(socket));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Its address, to be configured. @param user as `name:password` */
  address(user?: string): string {
    const host = this.#isTls ? 'localhost' : '127.0.0.1';
    return `http${this.#isTls ? 's' : ''}://${user === undefined ? '' : `${user}@`}${host}:${this.port}`;
  }

  /** Requests, each with its method, without headers. */
  get asked(): string[] {
    return this.heads.map((head) => head.split(' ').slice(0, 2).join(' '));
  }

  async stop(): Promise<void> {
    const stopped = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await stopped;
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => {});
    let read = '';
    const onData = (bytes: Buffer): void => {
      read += bytes.toString('latin1');
      const end = read.indexOf('\r\n\r\n') + 4;
      if (end < 4) return;
      const head = read.slice(0, end);
      const rest = read.slice(end);
      read = '';
      this.heads.push(head);
      if (this.misbehave) return this.misbehave(socket, head);
      socket.off('data', onData);
      this.#pass(socket, head, rest);
    };
    socket.on('data', onData);
  }

  /** Every connection leads to one host only: an honest proxy would look at each request, which tests do not need. */
  #pass(socket: Socket, head: string, rest: string): void {
    const [method = '', target = ''] = head.split(' ');
    const isTunnel = method === 'CONNECT';
    const url = isTunnel ? null : new URL(target);
    const place = url ? `${url.hostname}:${url.port || 80}` : target;
    const port = this.#ports[place];
    if (port === undefined) return void socket.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n');
    const host = connect(port, '127.0.0.1', () => {
      if (isTunnel) socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      else host.write(`${originForm(head, target)}${rest}`, 'latin1');
      host.pipe(socket);
      if (isTunnel) socket.pipe(host);
      else
        socket.on('data', (bytes: Buffer) => {
          const text = bytes.toString('latin1');
          const next = /^[A-Z]+ http:\/\//.test(text) ? text.slice(0, text.indexOf('\r\n\r\n') + 4) : '';
          if (next !== '') this.heads.push(next);
          host.write(next === '' ? text : originForm(next, target) + text.slice(next.length), 'latin1');
        });
    });
    host.on('error', () => socket.destroy());
    host.on('close', () => socket.destroy());
    socket.on('close', () => host.destroy());
  }
}

/** The head as the host itself is sent it: without what was for the proxy. */
function originForm(head: string, target: string): string {
  const { pathname, search } = new URL(target);
  return head.replace(target, pathname + search).replace(/proxy-[a-z]+: [^\r]*\r\n/g, '');
}

/** Starts a proxy on a free loopback port; with a certificate, one that is spoken to by TLS. */
export function startProxy(
  ports: Readonly<Record<string, number>>,
  tls?: { readonly cert: string; readonly key: string },
): Promise<TestProxy> {
  return new Promise((resolve) => {
    const server = tls ? createTlsServer(tls) : createServer();
    const proxy = new TestProxy(server, tls !== undefined, ports);
    server.listen(0, '127.0.0.1', () => resolve(proxy));
  });
}
