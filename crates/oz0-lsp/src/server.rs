//! The conversation: what the editor may ask, and how it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Notify, watch};
use tokio::task::spawn_blocking;
use tower_lsp_server::jsonrpc::{Request, Result};
use tower_lsp_server::ls_types::{
    ClientCapabilities, CodeActionKind, CodeActionOptions, CodeActionParams,
    CodeActionProviderCapability, CodeActionResponse, CompletionOptions, CompletionParams,
    CompletionResponse, ConfigurationItem, DidChangeConfigurationParams,
    DidChangeTextDocumentParams, DidChangeWatchedFilesParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, DidSaveTextDocumentParams, Hover, HoverParams,
    HoverProviderCapability, InitializeParams, InitializeResult, InitializedParams, MarkupKind,
    Registration, ServerCapabilities, ServerInfo, TextDocumentSyncCapability, TextDocumentSyncKind,
    TextDocumentSyncOptions, TextDocumentSyncSaveOptions,
};
use tower_lsp_server::{LanguageServer, LspService, Server as Transport};
use tower_service::Service;

use crate::action::Scene;
use crate::session::{Manner, Session};
use crate::text::Encoding;
use crate::uri::path_of;
use crate::{Options, action, completion, hover, parent};

/// How long the last answers have to leave once the editor said `exit`.
const FAREWELL: Duration = Duration::from_secs(1);

/// How a conversation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The editor asked for `shutdown` before it left: exit code 0, as the protocol says.
    InOrder,
    /// It did not, or sent what is no message, or its process ended: exit code 1.
    Abruptly,
}

/// Speaks with one editor until it says `exit`, closes its end, or the process that it named ends.
pub async fn serve<I, O>(input: I, output: O, options: Options) -> Ended
where
    I: AsyncRead + Unpin,
    O: AsyncWrite,
{
    let (named, mut parent) = watch::channel(None);
    let shut_down = Arc::new(AtomicBool::new(false));
    let exit = Arc::new(Notify::new());
    let (service, socket) = LspService::new(|client| Server {
        session: Arc::new(Session::new(client, options.verified)),
        parent: named,
    });
    let checking = tokio::spawn(Arc::clone(&service.inner().session).check_forever());
    let service = Observed { service, shut_down: Arc::clone(&shut_down), exit: Arc::clone(&exit) };
    let serving = Transport::new(input, output, socket).serve(service);
    let parent_ended = async {
        let named = parent.wait_for(Option::is_some).await.ok().and_then(|named| *named);
        match named {
            Some(process) => parent::ended(process).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = serving => {}
        // An editor that reads no more would keep the answers, and so the server, for ever.
        () = async { exit.notified().await; tokio::time::sleep(FAREWELL).await } => {}
        () = parent_ended => {}
    }
    checking.abort();
    if shut_down.load(Ordering::Relaxed) { Ended::InOrder } else { Ended::Abruptly }
}

/// A service whose `shutdown` and `exit` are seen as they come: an `exit` right behind it ends what a request still does.
struct Observed<S> {
    service: S,
    shut_down: Arc<AtomicBool>,
    exit: Arc<Notify>,
}

impl<S: Service<Request>> Service<Request> for Observed<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<std::result::Result<(), Self::Error>> {
        self.service.poll_ready(cx)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        match request.method() {
            "shutdown" => self.shut_down.store(true, Ordering::Relaxed),
            "exit" => self.exit.notify_one(),
            _ => {}
        }
        self.service.call(request)
    }
}

struct Server {
    session: Arc<Session>,
    parent: watch::Sender<Option<u32>>,
}

/// Takes the settings that the editor pushes, under `oz0` or bare, where there are any.
fn configure(session: &Session, settings: &Value) {
    let own = settings.get("oz0").unwrap_or(settings);
    let Some(verified) = own.get("verified").and_then(Value::as_bool) else { return };
    let before = std::mem::replace(&mut session.state().verified, verified);
    if before != verified {
        session.touch_everything();
    }
}

/// Asks for the settings, where the editor answers such questions.
async fn ask_for_settings(session: Arc<Session>) {
    if !session.state().manner.configures {
        return;
    }
    let item = ConfigurationItem { scope_uri: None, section: Some("oz0".to_owned()) };
    if let Ok(answers) = session.client().configuration(vec![item]).await {
        for settings in &answers {
            configure(&session, settings);
        }
    }
}

/// Asks to be told of every change on the disk: a finding may depend on any file of a plugin.
async fn ask_for_changes(session: Arc<Session>) {
    if !session.state().manner.watches {
        return;
    }
    let registration = Registration {
        id: "files".to_owned(),
        method: "workspace/didChangeWatchedFiles".to_owned(),
        register_options: Some(json!({ "watchers": [{ "globPattern": "**/*" }] })),
    };
    // An editor that refuses tells of fewer changes: those of open documents, and what is saved.
    let _ = session.client().register_capability(vec![registration]).await;
}

/// How the editor speaks.
fn manner(capabilities: &ClientCapabilities) -> Manner {
    let workspace = capabilities.workspace.as_ref();
    let offered = capabilities.general.as_ref().and_then(|it| it.position_encodings.as_deref());
    let hover = capabilities.text_document.as_ref().and_then(|it| it.hover.as_ref());
    let formats = hover.and_then(|hover| hover.content_format.as_ref());
    Manner {
        encoding: Encoding::of(offered),
        versioned_edits: workspace
            .and_then(|it| it.workspace_edit.as_ref()?.document_changes)
            .unwrap_or(false),
        markdown: formats.is_some_and(|formats| formats.contains(&MarkupKind::Markdown)),
        watches: workspace
            .and_then(|it| it.did_change_watched_files.as_ref()?.dynamic_registration)
            .unwrap_or(false),
        configures: workspace.and_then(|it| it.configuration).unwrap_or(false),
    }
}

fn capabilities(manner: Manner) -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(manner.encoding.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            save: Some(TextDocumentSyncSaveOptions::Supported(true)),
            ..TextDocumentSyncOptions::default()
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some([".", "/", ":", " ", "-"].map(str::to_owned).to_vec()),
            ..CompletionOptions::default()
        }),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX, action::FIX_ALL]),
            ..CodeActionOptions::default()
        })),
        ..ServerCapabilities::default()
    }
}

impl LanguageServer for Server {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let manner = manner(&params.capabilities);
        self.session.state().manner = manner;
        if let Some(options) = &params.initialization_options {
            configure(&self.session, options);
        }
        self.parent.send_replace(params.process_id);
        Ok(InitializeResult {
            capabilities: capabilities(manner),
            server_info: Some(ServerInfo {
                name: "oz0".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
            ..InitializeResult::default()
        })
    }

    async fn initialized(&self, _: InitializedParams) {
        // Each in a task of its own: an editor that never answers must not hold up what it sends.
        tokio::spawn(ask_for_changes(Arc::clone(&self.session)));
        tokio::spawn(ask_for_settings(Arc::clone(&self.session)));
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        let opened = self.session.state().documents.open(params.text_document);
        if let Some(path) = opened {
            self.session.touch(path, true);
        }
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        let changed = {
            let mut state = self.session.state();
            let encoding = state.manner.encoding;
            state.documents.change(&params.text_document, params.content_changes, encoding)
        };
        if let Some(path) = changed {
            self.session.touch(path, false);
        }
    }

    async fn did_save(&self, params: DidSaveTextDocumentParams) {
        if let Some(path) = path_of(&params.text_document.uri) {
            self.session.touch(path, false);
        }
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        let closed = self.session.state().documents.close(&params.text_document.uri);
        if let Some(path) = closed {
            self.session.touch(path, false);
        }
    }

    async fn did_change_watched_files(&self, params: DidChangeWatchedFilesParams) {
        for path in params.changes.iter().filter_map(|change| path_of(&change.uri)) {
            self.session.touch(path, false);
        }
    }

    async fn did_change_configuration(&self, params: DidChangeConfigurationParams) {
        configure(&self.session, &params.settings);
        tokio::spawn(ask_for_settings(Arc::clone(&self.session)));
    }

    async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        let at = params.text_document_position_params;
        Ok(hover::hover(&self.session, &at.text_document.uri, at.position))
    }

    async fn completion(&self, params: CompletionParams) -> Result<Option<CompletionResponse>> {
        let at = params.text_document_position;
        let session = Arc::clone(&self.session);
        let found = spawn_blocking(move || {
            completion::completion(&session, &at.text_document.uri, at.position)
        });
        Ok(found.await.unwrap_or_default())
    }

    async fn code_action(&self, params: CodeActionParams) -> Result<Option<CodeActionResponse>> {
        // What the editor sees is settled now, and not when a thread is free.
        let scene = Scene::of(&self.session, &params.text_document.uri);
        let Some(scene) = scene else { return Ok(Some(Vec::new())) };
        let found = spawn_blocking(move || scene.actions(&params));
        Ok(Some(found.await.unwrap_or_default()))
    }
}
