// The page of every command-line client names the package and the version that is tested.
import { expect, test } from 'bun:test';
import { clientPage } from './client-page.ts';
import { CLIENTS } from './command-line-clients.ts';

test.each(Object.entries(CLIENTS))('%s', (name, { package: packageName, version }) => {
  expect(clientPage(name)).toContain(`\`${packageName}\` ${version}:`);
});
