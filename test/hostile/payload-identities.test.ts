// Identities that proxies add to requests, and whether they stand in what the gateway keeps of each side.
import { expect, test } from 'bun:test';
import { startManaged } from '../support/management/scene.ts';

const JWT = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzb21lYm9keSJ9.c2lnbmF0dXJlLW9mLWl0';
const IDENTITIES: Readonly<Record<string, string>> = {
  'cf-access-jwt-assertion': JWT,
  'x-amzn-oidc-data': JWT,
  'x-amzn-oidc-identity': 'identity-of-somebody',
  'x-jwt': 'made-of-something-else',
  'x-session-id': 'session-of-somebody',
  'x-forwarded-user': 'somebody-by-name',
  'x-authenticated-email': 'somebody@example.com',
  'authentication-info': 'info-of-somebody',
  'x-whatever': 'unknown-to-everybody',
};

test('payloads keep known headers, and mask the rest, signatures of addresses and tokens anywhere', async () => {
  const gateway = await startManaged({ logging: { level: 'warn', content: 'all' } });
  try {
    const answer = await gateway.post(
      '/chat/completions?sig=signature-of-somebody&api-version=1',
      { model: 'sim/echo', messages: [{ role: 'user', content: `see ${JWT} and session-of-somebody` }] },
      {
        ...IDENTITIES,
        'user-agent': 'known-agent/1',
        referer: 'https://a.example/?sig=signature-of-somebody',
      },
    );
    await answer.text();
    const id = answer.headers.get('x-request-id') ?? '';
    const { body } = await gateway.manage('GET', `/generations/${id}/payloads`);
    const text = JSON.stringify(body);
    expect(text).toContain('known-agent/1');
    expect(text).toContain('x-session-id');
    for (const value of [...Object.values(IDENTITIES), 'signature-of-somebody'])
      expect(text).not.toContain(value);
  } finally {
    await gateway.close();
  }
});
