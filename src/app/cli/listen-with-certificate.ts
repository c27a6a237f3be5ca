// The gateway's socket, with TLS if configured. Watches the certificate files: a new pair applies to new connections,
// an invalid one is refused and logged.
import {
  readCertificate,
  watchConfig,
  type CertificateFiles,
  type CertificatePair,
} from '../config/index.ts';
import type { ListenOptions, Listener } from '../../base/runtime/http-server.ts';
import { listenOrExplain } from './listen-or-explain.ts';
import type { UnixMs } from '../../base/units.ts';

/** Debounce in milliseconds, because certificate and key are written one after the other. */
const PAUSE_MS = 1000;

export interface CertificateInput {
  readonly files: CertificateFiles;
  /** Certificate and key, already read. */
  readonly pair: CertificatePair;
  readonly now: () => UnixMs;
  readonly log: (level: 'info' | 'warn' | 'error', message: string) => void;
  /** Registers a callback for SIGHUP; returns a function that removes it. */
  readonly onHangup: (reload: () => void) => () => void;
}

export interface CertifiedListener extends Listener {
  /** Reads the certificate again. */
  reload(): void;
}

/** Opens the socket. Throws GatewayError when it cannot. @param input with `tls: null`: plain HTTP */
export function listenWithCertificate({
  tls,
  ...options
}: Omit<ListenOptions, 'certificate'> & { readonly tls: CertificateInput | null }): CertifiedListener {
  if (tls === null) return { ...listenOrExplain(options), reload: () => {} };
  const { files, log, now } = tls;
  const warn = ({ warnings }: CertificatePair): void => warnings.forEach((sentence) => log('warn', sentence));
  warn(tls.pair);
  const listener = listenOrExplain({ ...options, certificate: tls.pair });
  const watched = watchConfig<CertificatePair>({
    what: 'certificate',
    path: files.cert,
    also: [files.key],
    current: { ...tls.pair, revision: 1 },
    load: () => {
      const before = watched.current();
      const next = readCertificate(files, now());
      // Certifying again would only close idle connections. Refusals by the runtime are also logged.
      if (next.cert !== before.cert || next.key !== before.key) listener.certify(next);
      warn(next);
      return next;
    },
    log,
    onHangup: tls.onHangup,
    debounceMs: PAUSE_MS,
  });
  return {
    ...listener,
    reload: () => void watched.reload(),
    drain() {
      watched.close();
      return listener.drain();
    },
    stop() {
      watched.close();
      return listener.stop();
    },
  };
}
