import DefaultTheme from 'vitepress/theme-without-fonts';
import { onMounted } from 'vue';
import './playground.css';
import './start.css';
import './theme.css';
import { diagram } from './diagram.mjs';

const { scrollTo } = globalThis;

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('Diagram', diagram);
    // On mount, the router would scroll to the top or to the hash, although the reader may have scrolled since.
    if (import.meta.env.PROD) globalThis.scrollTo = () => {};
  },
  setup: () =>
    onMounted(() =>
      requestAnimationFrame(() => {
        globalThis.scrollTo = scrollTo;
        dispatchEvent(new Event('app-mounted'));
      }),
    ),
};
