// The access log, as it is written.
import { expect, test } from 'bun:test';
import { startGateway } from '../../support/harness.ts';

test('the access log has a line for each request at every log level, and only if it is enabled', async () => {
  const lines = async (logging: object): Promise<readonly Record<string, unknown>[]> => {
    const gateway = await startGateway({ logging });
    const messages = [{ role: 'user', content: 'a secret question' }];
    await (await gateway.post('/chat/completions', { model: 'sim/echo', messages, stream: true })).text();
    await (await gateway.post('/chat/completions', { model: 'no/such', messages })).text();
    await gateway.close();
    expect(gateway.logLines.join('')).not.toContain('a secret question');
    return gateway.logLines.map((line) => JSON.parse(line) as Record<string, unknown>);
  };
  expect(await lines({ level: 'silent' })).toEqual([]);
  const [answered, refused, ...more] = await lines({ level: 'silent', access: true });
  expect(more).toEqual([]);
  expect(answered).toMatchObject({
    level: 'info',
    message: 'request',
    id: expect.stringMatching(/^[0-9a-f]{32}$/),
    key: 'test',
    api: 'chat.completions',
    requested_model: 'sim/echo',
    model: 'sim/echo',
    provider: 'sim',
    status: 200,
    streamed: true,
    attempts: 1,
    input_tokens: expect.any(Number),
    output_tokens: expect.any(Number),
    error: null,
  });
  expect(refused).toMatchObject({ requested_model: 'no/such', model: null, status: 404, error: 'not_found' });
});
