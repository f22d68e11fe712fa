import DefaultTheme from 'vitepress/theme-without-fonts';
import './playground.css';
import './theme.css';
import { diagram } from './diagram.mjs';

export default { extends: DefaultTheme, enhanceApp: ({ app }) => void app.component('Diagram', diagram) };
