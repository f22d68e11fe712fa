import type { Key } from '../../shown/keys.ts';
import { shownPanel } from '../../shown/panel.ts';
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
