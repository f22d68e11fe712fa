import { expect, it, vi } from 'vitest';
import { explore } from '../../../../src/testing/exploration/explore.ts';
import { testSystem } from '../../../../src/testing/system/test-system.ts';
import { checkout, checkoutOptions, createShop } from '../../../support/checkout.ts';

vi.mock('fast-check', () => {
  throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
});

it('only random walks need fast-check, and name the package to install', async () => {
  const { system, clock } = createShop();
  const exploration = explore(checkout, checkoutOptions);
  expect((await testSystem(exploration, { system, clock })).untaken).toEqual([]);
  await expect(testSystem(exploration, { system, clock, walks: {} })).rejects.toMatchObject({
    code: 'package_missing',
    message: expect.stringMatching(
      /^"walks" of testSystem requires the package "fast-check", .*npm install fast-check$/u,
    ),
  });
});
