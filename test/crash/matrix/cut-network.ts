// A network that can be cut: a TCP proxy between a gateway and one of its servers.
import { connect, createServer, type Socket } from 'node:net';

/** `whole` passes everything on, `refused` closes what is open and what comes, `silent` takes all and passes nothing on. */
export type NetworkState = 'whole' | 'refused' | 'silent';

export interface CutNetwork {
  readonly port: number;
  /** Changes its state. Bytes that were held back while it was silent go on when it is whole again, late, as on a real network. */
  become(state: NetworkState): void;
  stop(): void;
}

/** Starts a proxy in front of a port of this machine. */
export async function startNetwork(targetPort: number): Promise<CutNetwork> {
  let state: NetworkState = 'whole';
  const pairs = new Set<readonly [Socket, Socket]>();
  /** Connections that came in silence, with nobody on the other side. */
  const waiting = new Set<Socket>();
  const join = (near: Socket): void => {
    const far = connect({ port: targetPort, host: '127.0.0.1', noDelay: true });
    const pair = [near, far] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [far, near]] as const) {
      from.on('data', (bytes: Buffer) => {
        if (!to.write(bytes)) from.pause();
      });
      to.on('drain', () => state !== 'silent' && from.resume());
      from.on('error', () => to.destroy());
      from.on('close', () => {
        pairs.delete(pair);
        to.destroy();
      });
    }
    near.resume();
  };
  const server = createServer({ noDelay: true, pauseOnConnect: true }, (near) => {
    near.on('error', () => near.destroy());
    if (state === 'refused') near.resetAndDestroy();
    else if (state === 'whole') join(near);
    else {
      waiting.add(near);
      near.once('close', () => waiting.delete(near));
    }
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    become(next) {
      state = next;
      for (const pair of pairs) {
        if (next === 'refused') pair[0].resetAndDestroy();
        else if (next === 'silent') for (const socket of pair) socket.pause();
        else for (const socket of pair) socket.resume();
      }
      if (next === 'silent') return;
      for (const near of waiting) {
        if (next === 'whole') join(near);
        else near.resetAndDestroy();
      }
      waiting.clear();
    },
    stop() {
      server.close();
      for (const socket of [...pairs].flat()) socket.destroy();
      for (const near of waiting) near.destroy();
    },
  };
}
