import { useData } from 'vitepress';
import { defineComponent, h, ref, watchEffect } from 'vue';

/** A Mermaid diagram, drawn in the page in the colors of its theme. Until then, and without JavaScript, it is text. */
export const diagram = defineComponent({
  props: { id: { type: String, required: true }, code: { type: String, required: true } },
  setup(props) {
    const { isDark } = useData();
    const svg = ref('');
    watchEffect(async () => {
      const theme = isDark.value ? 'dark' : 'neutral';
      const { code } = props;
      if (import.meta.env.SSR) return;
      const { default: mermaid } = await import('mermaid');
      // Labels of edges are readable on the background of the site.
      const themeVariables = theme === 'dark' ? { edgeLabelBackground: '#1b1b1f' } : {};
      mermaid.initialize({ startOnLoad: false, theme, themeVariables });
      const drawn = await mermaid.render(props.id, decodeURIComponent(code));
      if (code === props.code) svg.value = drawn.svg;
    });
    return () =>
      svg.value === ''
        ? h('pre', { class: 'mermaid' }, decodeURIComponent(props.code))
        : h('div', { class: 'diagram', innerHTML: svg.value });
  },
});
