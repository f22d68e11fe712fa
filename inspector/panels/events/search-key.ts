import type { Key } from '../../ui-state/keys.ts';
import { shownPanel } from '../../ui-state/panel.ts';
import { asked } from './asked.ts';

export const searchKey: Key = {
  keys: ['/'],
  does: 'Search the events',
  group: 'Page',
  act: () => {
    shownPanel.value = 'events';
    asked.isDue.value = true;
  },
};
