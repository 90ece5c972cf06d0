// SVG files are imported as text.
declare module '*.svg' {
  const source: string;
  export default source;
}
