import { it } from 'vitest';
import { explore } from '../../../src/testing/exploration/explore.ts';
import { alikeGoOnAlike } from '../../../src/testing/properties/alike.ts';
import { suites } from './charts/suites.ts';

it('x', () => {
  for (const [n, s] of Object.entries(suites)) {
    let t = Date.now();
    const e = explore(s.machine, s.options as any) as any;
    console.log(n, 'explored', Date.now() - t);
    t = Date.now();
    const w = alikeGoOnAlike(s.options as any).check(e);
    console.log(n, Date.now() - t, w?.what, w?.path?.name);
  }
}, 100000);
