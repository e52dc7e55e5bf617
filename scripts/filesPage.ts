// Writes docs/files.md from the schemas that read the files of a project. Run it after a change to them
// (tsx scripts/filesPage.ts); a test tells when it is stale.
import { Option, type Schema, SchemaAST } from "effect"
import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { ContainerConfig } from "../src/schema/projects.ts"
import { PlatformEntry } from "../src/schema/upsert.ts"
import { describeExpected } from "../src/schema/words.ts"

const fields = ({ ast }: Schema.Schema.All) =>
  SchemaAST.getPropertySignatures(SchemaAST.encodedAST(ast)).map(({ isOptional, name, type }) => {
    const decoded = SchemaAST.isTransformation(ast) ? ast.from : ast
    const own = (SchemaAST.isTypeLiteral(decoded) ? decoded.propertySignatures : []).find((each) => each.name === name)
    const words = Option.getOrElse(
      own === undefined ? Option.none() : SchemaAST.getDescriptionAnnotation(own),
      () => ""
    )
    const must = describeExpected(own?.type ?? type).replace(/^must be /, "").replace(
      // A bare number would not say what it counts.
      "a string or a number",
      "a duration in words"
    )
    const example = JSON.stringify(own?.annotations["example"])
    return `- \`${String(name)}\`${isOptional ? "" : " (required)"}: ${must}. ${words} For example \`${example}\`.`
  }).join("\n")

/** The text of docs/files.md. */
export const filesPage = (): string =>
  `# The files of a project

<!-- Generated from the schemas by scripts/filesPage.ts: change it there. -->

A project is a directory with a compose file, an image build file or a \`platform.json\`. Berth reads these files as they are
each time, up to 1 MiB of each. What does not fit is named with file, line, column and field; \`berth\` and the page list it under
what needs care. A field that is \`null\` counts as left out.

## container.json

How the project is deployed to a server. All fields are optional; one that Berth does not know is an error, since it may be a
misspelt one.

${fields(ContainerConfig)}

## platform.json

The applications of the platform that the project declares: an object, or a list of objects. A field that Berth does not know is
kept and warned of. An empty string counts as left out.

${fields(PlatformEntry)}

## The compose file

\`compose.yml\`, \`compose.yaml\`, \`docker-compose.yml\` or \`docker-compose.yaml\`, the first that is there, unless \`compose\` names others,
with \`.env\` beside it for its variables. [Compose projects](compose.md) says what a deploy brings with it. A variable that is not set
and has no default is a warning of the plan.

## Image archives

The newest \`*.tar\` of the directory is what a deploy loads: as \`docker save\` writes it, \`podman save\`, Buildx (\`--output type=docker\` and
\`type=oci\`), Skopeo or crane. [Deploys](deploy.md) tells the rest, and [which forms](deploy.md#forms-of-an-archive) there are.
`

const file = fileURLToPath(new URL("../docs/files.md", import.meta.url))
if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(file, filesPage())
