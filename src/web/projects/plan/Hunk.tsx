import { yaml } from "@codemirror/lang-yaml"
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language"
import { unifiedMergeView } from "@codemirror/merge"
import { EditorState } from "@codemirror/state"
import { EditorView, lineNumbers } from "@codemirror/view"
import { tags } from "@lezer/highlight"
import { useEffect, useRef } from "react"
import { type DiffHunk } from "./hunks.ts"

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "light-dark(#1b4fb3, #86aefc)" },
  { tag: tags.comment, color: "var(--quiet)", fontStyle: "italic" }
])

const look = EditorView.theme({
  "&": { fontSize: "13px", backgroundColor: "transparent", color: "var(--text)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "21px", fontFeatureSettings: "\"calt\" 0" },
  ".cm-content": { padding: "6px 0", caretColor: "transparent" },
  ".cm-line, .cm-deletedLine": { padding: "0 16px 0 8px" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--quiet)", border: "0", paddingLeft: "8px" },
  ".cm-changeGutter": { width: "3px", paddingLeft: "0" },
  ".cm-changedLineGutter, &.cm-merge-b .cm-changedLineGutter": { background: "var(--good)" },
  ".cm-deletedLineGutter, &.cm-merge-b .cm-deletedLineGutter": { background: "var(--bad)" },
  ".cm-changedLine, &.cm-merge-b .cm-changedLine": { backgroundColor: "var(--good-ground)" },
  ".cm-insertedLine": { backgroundColor: "var(--good-ground)", textDecoration: "none" },
  ".cm-changedText, &.cm-merge-b .cm-changedText": { background: "var(--good-mark)", borderRadius: "4px" },
  ".cm-deletedChunk": { backgroundColor: "var(--bad-ground)", paddingLeft: "0" },
  ".cm-deletedChunk .cm-deletedText, &.cm-merge-b .cm-deletedText": {
    background: "var(--bad-mark)",
    borderRadius: "4px"
  },
  ".cm-deletedLine del, .cm-deletedLine, del": { textDecoration: "none" }
})

/** Hunk of a diff. Renders in a shadow root: its styles come by script, and the page's CSP forbids style elements. */
export const Hunk = (
  { hunk: { after, before, start }, label }: { readonly hunk: DiffHunk; readonly label: string }
) => {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const host = place.current
    if (host === null) return
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" })
    const view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: after,
        extensions: [
          EditorState.readOnly.of(true),
          EditorView.editable.of(false),
          EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
          lineNumbers({ formatNumber: (line) => String(line + start - 1) }),
          yaml(),
          syntaxHighlighting(colours),
          unifiedMergeView({ original: before, mergeControls: false, gutter: true, highlightChanges: true }),
          look
        ]
      })
    })
    return () => view.destroy()
  }, [after, before, label, start])
  return <div ref={place} />
}
